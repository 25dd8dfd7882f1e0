import { hash, randomFillSync } from 'node:crypto'
import type { Origin } from '../access/principal.ts'
import type { Transaction } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'

/** What tells of a write needs: the transaction that it is in, its time, and who does it from where. */
export interface Writing {
  readonly database: Transaction
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly principal: Actor
  readonly origin: Origin
}

/** Who does something, and with what: null for nobody who is known. */
export interface Actor {
  readonly userId: string | null
  /** The id of a key or grant, `local`, `browser`, that of the application that asked for tokens. */
  readonly credential: string | null
}

/** SHA-256 of a text in hexadecimal digits. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

const saltBytes = 12
/** Drawn together: for one salt at a time, asking takes longer than the bytes. */
const drawn = Buffer.alloc(256 * saltBytes)
let used = drawn.length

/** Two salts of 96 bits: without one, a digest of little would tell what it is of, after that has been erased. */
export function newSalts(): readonly [string, string] {
  return [newSalt(), newSalt()]
}

function newSalt(): string {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += saltBytes
  // No text that a spreadsheet might take for a formula.
  return drawn.toString('hex', used - saltBytes, used)
}
