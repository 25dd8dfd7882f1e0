import { randomFillSync } from 'node:crypto'

export type IdPrefix =
  | 'crs'
  | 'les'
  | 'usr'
  | 'enr'
  | 'trm'
  | 'grp'
  | 'mem'
  | 'cal'
  | 'key'
  | 'app'
  | 'grd'
  | 'map'
  | 'gnt'
  | 'aud'
  | 'chg'
  | 'pln'
  | 'whd'
  | 'whe'
  | 'msg'
  | 'req'
  | 'ses'
  | 'mod'
  | 'blk'
  | 'asm'
  | 'qst'

const randomBytes = 10
/** Ids per draw of random bytes: a call to the generator for each id would cost more than the bytes. */
const idsPerDraw = 400
/** Incremented for further ids of the same millisecond. */
const counterBytes = 6
/** The other half of the range is left for increments. */
const maxFirstCount = 2 ** (8 * counterBytes - 1)

export type IdMaker = (prefix: IdPrefix) => string

/**
 * Returns an id generator: prefix, nine characters for the time in ms, twenty random ones (80 bits). Ids sort by
 * creation, also within a millisecond.
 */
export function idMaker(now: () => Date): IdMaker {
  const bytes = Buffer.alloc(randomBytes * idsPerDraw)
  let used = bytes.length
  let before = Number.NEGATIVE_INFINITY
  let count = 0
  return (prefix) => {
    if (used === bytes.length) {
      randomFillSync(bytes)
      used = 0
    }
    const time = now()
    count = time.getTime() === before ? count + 1 : bytes.readUIntBE(used, counterBytes) % maxFirstCount
    before = time.getTime()
    const random = bytes.toString('hex', used + counterBytes, used + randomBytes)
    used += randomBytes
    return idOf(prefix, time, count.toString(16).padStart(2 * counterBytes, '0') + random)
  }
}

/**
 * Returns a generator of ids that only have to be unique, such as request ids in this process. It does not load the
 * crypto module, which is slow to load.
 */
export function plainIdMaker(now: () => Date): IdMaker {
  const half = () =>
    Math.floor(Math.random() * 2 ** (4 * randomBytes))
      .toString(16)
      .padStart(randomBytes, '0')
  return (prefix) => idOf(prefix, now(), half() + half())
}

/** Kinds of content. Ids of credentials, sessions and requests always stay random. */
const seededPrefixes: readonly IdPrefix[] = [
  'crs',
  'les',
  'usr',
  'trm',
  'enr',
  'grp',
  'mem',
  'grd',
  'mod',
  'blk',
  'asm',
  'qst',
]
const beginning = new Date(0)

/**
 * Ids for content are the same in each run: derived from the seed (0 to 2^32 − 1) and a count per kind; a copy of
 * `counts` continues from there. For new academies only: in an existing one the ids would collide. All other ids come
 * from `idMaker`.
 */
export function seededIdMaker(
  seed: number,
  now: () => Date,
  counts: Map<IdPrefix, number> = new Map(),
): IdMaker {
  const randomIds = idMaker(now)
  return (prefix) => {
    if (!seededPrefixes.includes(prefix)) return randomIds(prefix)
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return idOf(prefix, beginning, seed.toString(16).padStart(8, '0') + count.toString(16).padStart(12, '0'))
  }
}

function idOf(prefix: IdPrefix, time: Date, random: string): string {
  return `${prefix}_${time.getTime().toString(36).padStart(9, '0')}${random}`
}

/** Returns the lower bound of ids of this kind that are created at a time (Unix ms) or later. */
export function firstIdAt(prefix: IdPrefix, timeMs: number): string {
  return `${prefix}_${Math.max(0, timeMs).toString(36).padStart(9, '0')}`
}

/** Of an id of `idMaker`; ISO 8601 in UTC. */
export function timeOfId(id: string): string {
  return new Date(Number.parseInt(id.slice(4, 13), 36)).toISOString()
}

const idForm = /^[a-z]{3}_[0-9a-z]{9}[0-9a-f]{20}$/

export function isIdForm(text: string): boolean {
  return idForm.test(text)
}
