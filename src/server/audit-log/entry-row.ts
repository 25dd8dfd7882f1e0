import sql from 'sql-template-tag'
import { parseJsonOrNull } from '../../codec/json-text.ts'
import { type Action, nounOf } from '../../contract/actions.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import type { Row } from '../database/database.ts'
import { timeOfId } from '../database/id.ts'

/** An entry's row; `origin` and `details` are JSON, null once erased. */
export interface EntryRow extends Row {
  readonly place: number
  readonly id: string
  readonly user_id: string | null
  readonly user_email: string | null
  readonly credential: string | null
  readonly action: string
  readonly subject_id: string | null
  readonly about_id: string | null
  readonly origin: string | null
  readonly origin_digest: string
  readonly details: string | null
  readonly details_digest: string
  readonly hash: string | null
}

/** Columns of EntryRow, from `audit_entries a`. */
export const entryColumns = sql`a.place, a.id, a.user_id,
  (select email from users where id = a.user_id) as user_email, a.credential, a.action, a.subject_id, a.about_id, a.origin, a.origin_digest, a.details, a.details_digest, a.hash`

type Origin = [salt: string, address: string | null, userAgent: string | null]
type Details = [
  salt: string,
  requestId: string | null,
  name: string | null,
  before: AuditEntry['before'],
  after: AuditEntry['after'],
]
const erasedOrigin = [null, null, null] as const
const erasedDetails = [null, null, null, null, null] as const

/** Shown in place of corrupted text. Its salt does not match the digest, so verification fails. */
const lostOrigin: Origin = ['', null, null]
const lostDetails: Details = ['', null, null, null, null]

/** Parses stored text; corrupted text yields `lost`, so that the other entries can be read. */
function readOr<Stored extends readonly unknown[]>(text: string, lost: Stored): Stored {
  const value = parseJsonOrNull(text)
  return Array.isArray(value) && value.length === lost.length ? (value as unknown as Stored) : lost
}

/** Returns the network address of a stored origin. */
export function addressIn(origin: string | null): string | null {
  return origin === null ? null : readOr(origin, lostOrigin)[1]
}

/** Converts a row to the API's form. */
export function toEntry(row: EntryRow): AuditEntry {
  const [originSalt, address, userAgent] = row.origin === null ? erasedOrigin : readOr(row.origin, lostOrigin)
  const [detailsSalt, requestId, subjectName, before, after] =
    row.details === null ? erasedDetails : readOr(row.details, lostDetails)
  const action = row.action as Action
  return {
    id: row.id,
    at: timeOfId(row.id),
    userId: row.user_id,
    userEmail: row.user_email,
    credential: row.credential,
    action,
    noun: nounOf(action),
    subjectId: row.subject_id,
    subjectName,
    aboutId: row.about_id,
    address,
    userAgent,
    requestId,
    before,
    after,
    place: row.place > 0 ? row.place : null,
    originSalt,
    originDigest: row.origin_digest,
    detailsSalt,
    detailsDigest: row.details_digest,
    hash: row.hash,
  }
}
