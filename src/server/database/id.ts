import { randomFillSync } from 'node:crypto'

/** The prefixes of ids: what kind of thing an id is of. */
export type IdPrefix =
  | 'crs'
  | 'les'
  | 'usr'
  | 'enr'
  | 'key'
  | 'app'
  | 'gnt'
  | 'req'
  | 'ses'
  | 'mod'
  | 'blk'
  | 'asm'
  | 'qst'

const chanceBytes = 10
/** Drawn together: for one id at a time, asking takes longer than the bytes. */
const idsADraw = 400
/** The bytes of chance that count on from one id to the next of the same millisecond. */
const countedBytes = 6
/** Half of what they hold is left to count on in. */
const firstCount = 2 ** (8 * countedBytes - 1)

/**
 * Makes ids: prefix, nine characters of the time in ms, twenty of chance (80 bits). They sort in the order in which they
 * are made, those of one millisecond among them.
 */
export function idMaker(now: () => Date): (prefix: IdPrefix) => string {
  const bytes = Buffer.alloc(chanceBytes * idsADraw)
  let used = bytes.length
  let before = Number.NEGATIVE_INFINITY
  let count = 0
  return (prefix) => {
    if (used === bytes.length) {
      randomFillSync(bytes)
      used = 0
    }
    const time = now()
    count = time.getTime() === before ? count + 1 : bytes.readUIntBE(used, countedBytes) % firstCount
    before = time.getTime()
    const chance = bytes.toString('hex', used + countedBytes, used + chanceBytes)
    used += chanceBytes
    return idOf(prefix, time, count.toString(16).padStart(2 * countedBytes, '0') + chance)
  }
}

/**
 * Makes ids for what only has to differ from others, such as requests to an academy in this process: without the
 * cryptography, which takes long to load.
 */
export function plainIdMaker(now: () => Date): (prefix: IdPrefix) => string {
  const half = () =>
    Math.floor(Math.random() * 2 ** (4 * chanceBytes))
      .toString(16)
      .padStart(chanceBytes, '0')
  return (prefix) => idOf(prefix, now(), half() + half())
}

function idOf(prefix: IdPrefix, time: Date, chance: string): string {
  return `${prefix}_${time.getTime().toString(36).padStart(9, '0')}${chance}`
}

const idForm = /^[a-z]{3}_[0-9a-z]{9}[0-9a-f]{20}$/

/** True for text in the form of an id that `idMaker` makes, of whatever kind. */
export function isIdForm(text: string): boolean {
  return idForm.test(text)
}
