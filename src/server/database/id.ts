import { randomFillSync } from 'node:crypto'

/** The prefixes of ids: what kind of thing an id is of. */
export type IdPrefix =
  | 'crs'
  | 'les'
  | 'usr'
  | 'enr'
  | 'key'
  | 'app'
  | 'grd'
  | 'map'
  | 'gnt'
  | 'aud'
  | 'whd'
  | 'whe'
  | 'msg'
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

/** Makes an id for a thing of this kind. */
export type IdMaker = (prefix: IdPrefix) => string

/**
 * Makes ids: prefix, nine characters of the time in ms, twenty of chance (80 bits). They sort in the order in which they
 * are made, those of one millisecond among them.
 */
export function idMaker(now: () => Date): IdMaker {
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
export function plainIdMaker(now: () => Date): IdMaker {
  const half = () =>
    Math.floor(Math.random() * 2 ** (4 * chanceBytes))
      .toString(16)
      .padStart(chanceBytes, '0')
  return (prefix) => idOf(prefix, now(), half() + half())
}

/** What an academy is about. Whatever belongs to a credential, a session or a request stays a matter of chance. */
const repeatable: readonly IdPrefix[] = ['crs', 'les', 'usr', 'enr', 'grd', 'mod', 'blk', 'asm', 'qst']
const beginning = new Date(0)

/**
 * Makes the ids of courses, lessons, users, enrolments, grades and what is in them the same in each run: the seed, 0 to
 * 2^32 − 1, and a count for each kind, in the order in which they are made. For new academies alone: in another, ids
 * that it has would come again. All other ids are those of `idMaker`.
 */
export function seededIdMaker(seed: number, now: () => Date): IdMaker {
  const counts = new Map<IdPrefix, number>()
  const unforeseen = idMaker(now)
  return (prefix) => {
    if (!repeatable.includes(prefix)) return unforeseen(prefix)
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return idOf(prefix, beginning, seed.toString(16).padStart(8, '0') + count.toString(16).padStart(12, '0'))
  }
}

function idOf(prefix: IdPrefix, time: Date, chance: string): string {
  return `${prefix}_${time.getTime().toString(36).padStart(9, '0')}${chance}`
}

/** Where the ids of things of this kind begin that are made at a time, in milliseconds since 1970, or later. */
export function firstIdAt(prefix: IdPrefix, timeMs: number): string {
  return `${prefix}_${Math.max(0, timeMs).toString(36).padStart(9, '0')}`
}

/** When an id of `idMaker` was made, ISO 8601 in UTC. */
export function timeOfId(id: string): string {
  return new Date(Number.parseInt(id.slice(4, 13), 36)).toISOString()
}

const idForm = /^[a-z]{3}_[0-9a-z]{9}[0-9a-f]{20}$/

/** True for text in the form of an id that `idMaker` makes, of whatever kind. */
export function isIdForm(text: string): boolean {
  return idForm.test(text)
}
