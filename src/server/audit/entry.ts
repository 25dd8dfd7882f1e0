import { hash, randomFillSync } from 'node:crypto'
import type { Origin } from '../access/principal.ts'
import type { Transaction } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'

/** Context of a write that is recorded: transaction, time, actor and origin. */
export interface Writing {
  readonly database: Transaction
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly principal: Actor
  readonly origin: Origin
}

/** User and credential that act; null if unknown. */
export interface Actor {
  readonly userId: string | null
  /** Id of a key, grant or application, `local`, or `browser`. */
  readonly credential: string | null
}

/** SHA-256 of a text in hexadecimal digits. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

const saltBytes = 12
/** Random bytes for many salts: one call costs more than the bytes. */
const drawn = Buffer.alloc(256 * saltBytes)
let used = drawn.length

/** Returns two salts of 96 bits. Without a salt, short erased text could be guessed from its digest. */
export function newSalts(): readonly [string, string] {
  return [newSalt(), newSalt()]
}

function newSalt(): string {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += saltBytes
  // Hex, which no spreadsheet takes for a formula.
  return drawn.toString('hex', used - saltBytes, used)
}
