import { randomUUID } from 'node:crypto'

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

/** Makes ids: prefix, nine characters of the time in ms, twenty of chance (80 bits), sortable by time. */
export function idMaker(now: () => Date): (prefix: IdPrefix) => string {
  return (prefix) => {
    // The version and the variant of a UUID stand in its middle: the ends are chance alone (RFC 9562 §5.4).
    const random = randomUUID()
    return `${prefix}_${now().getTime().toString(36).padStart(9, '0')}${random.slice(0, 8)}${random.slice(24)}`
  }
}
