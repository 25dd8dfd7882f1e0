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

/** What is linked to the entry before: all of an entry but what may be erased, of which the digests stay. */
export interface Linked {
  /** From 1 on. */
  readonly place: number
  readonly id: string
  readonly at: string
  readonly userId: string | null
  readonly credential: string | null
  readonly action: string
  readonly subjectId: string | null
  readonly originDigest: string
  readonly detailsDigest: string
}

/** The link before the first one. */
export const firstHash = '0'.repeat(64)

/** The hash of an entry, which is one of the hash before it as well: SHA-256 of a JSON array, in hexadecimal digits. */
export function linkOf(previous: string, entry: Linked): string {
  const { place, id, at, userId, credential, action, subjectId, originDigest, detailsDigest } = entry
  return sha256(
    JSON.stringify([
      ...[previous, place, id, at, userId, credential, action, subjectId],
      ...[originDigest, detailsDigest],
    ]),
  )
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
  return drawn.toString('base64url', used - saltBytes, used)
}
