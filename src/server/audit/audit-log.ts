import sql, { join, type Sql } from 'sql-template-tag'
import { parseJsonOrNull } from '../../codec/json-text.ts'
import { type Action, actions, nounOf } from '../../contract/actions.ts'
import { type AuditEntry, audit } from '../../contract/audit.ts'
import { lastLink } from '../changes/audit-entry.ts'
import type { Database, Row } from '../database/database.ts'
import { firstIdAt, isIdForm, timeOfId } from '../database/id.ts'
import { during, page } from '../database/page.ts'
import { resolveFilter } from '../database/reference.ts'
import { routesOf } from '../http/schema-routes.ts'
import { notFound } from '../problem-error.ts'

/** Ids sort by time of creation. */
const order = { at: sql`a.id`, place: sql`a.place` }
const id = sql`a.id`

/** From the arrival of a request to its last entry. */
const maxRequestMs = 15 * 60_000

/** Their ids follow the request's, which has the time of its arrival. */
export function entriesOfRequest(requestId: string): Sql {
  if (!isIdForm(requestId)) return sql`false`
  const arrivedAt = Date.parse(timeOfId(requestId))
  const named = JSON.stringify(requestId)
  return sql`a.id >= ${firstIdAt('aud', arrivedAt)} and a.id < ${firstIdAt('aud', arrivedAt + maxRequestMs)}
    and substr(a.details, ${requestIdAt}, ${named.length}) = ${named}`
}

/** Place of the request id in `details`, counted from 1: after the salt of 24 characters. */
const requestIdAt = '["'.length + 24 + '",'.length + 1

export const auditRoutes = routesOf(audit, {
  async list({ database, query }) {
    const { user_id: user, credential, action, noun, subject_id: subject, change_id: change } = query
    const filters = [
      user && sql`a.user_id = ${await resolveFilter(database, 'users', user, 'user_id')}`,
      credential && sql`a.credential = ${credential}`,
      action && sql`a.action in (${join(action)})`,
      noun && sql`a.action in (${join(actions.filter((one) => nounOf(one) === noun))})`,
      subject && sql`a.subject_id = ${subject}`,
      change && sql`a.change_id = ${change}`,
    ]
    // Their indexes are in the order of ids.
    const isByTime = query.sort.endsWith('at')
    return page<EntryRow, AuditEntry>(
      database,
      {
        columns: entryColumns,
        from: sql`audit_entries a`,
        ...(isByTime ? { by: filters } : { narrow: filters }),
        within: [
          { field: 'at', condition: query.request_id && entriesOfRequest(query.request_id) },
          { field: 'at', condition: during(id, query, (time) => firstIdAt('aud', Date.parse(time))) },
          // Always true; makes the planner walk the index of places.
          { field: 'place', condition: sql`a.place >= ${Number.MIN_SAFE_INTEGER}` },
        ],
      },
      { sort: query.sort, expressions: order, id },
      query,
      toEntry,
    )
  },

  async get({ database, params }) {
    const row = await database.one<EntryRow>(
      sql`select ${entryColumns} from audit_entries a where a.id = ${params.entryId}`,
    )
    if (!row) throw notFound('audit entry', params.entryId)
    return toEntry(row)
  },
})

/** More are not counted. */
export const maxWaiting = 1_000

export interface Chain {
  readonly linked: number
  readonly hash: string
  /** Not linked yet; `maxWaiting + 1` stands for more. */
  readonly waiting: number
}

export async function chainOf(database: Database): Promise<Chain> {
  const { place, hash } = await lastLink(database)
  const row = await database.one<Row & { waiting: number }>(sql`
    select count(*) as waiting from (select 1 from audit_entries where place < 0 limit ${maxWaiting + 1}) waiting`)
  return { linked: place, hash, waiting: row?.waiting ?? 0 }
}

/** `origin` and `details` are JSON, null once erased. */
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
  readonly change_id: string | null
}

/** From `audit_entries a`. */
export const entryColumns = sql`a.place, a.id, a.user_id,
  (select email from users where id = a.user_id) as user_email, a.credential, a.action, a.subject_id, a.about_id, a.origin, a.origin_digest, a.details, a.details_digest, a.hash, a.change_id`

type Origin = [salt: string, address: string | null, userAgent: string | null]
type Details = [
  salt: string,
  requestId: string | null,
  name: string | null,
  before: AuditEntry['before'],
  after: AuditEntry['after'],
  changeId?: string,
]
const erasedOrigin = [null, null, null] as const
const erasedDetails = [null, null, null, null, null] as const

/** Shown in place of corrupted text. Its salt does not match the digest, so verification fails. */
const lostOrigin: Origin = ['', null, null]
const lostDetails: Details = ['', null, null, null, null]

/**
 * Parses stored text; corrupted text yields `lost`, so that the other entries can be read.
 *
 * @param optional number of items that may follow those of `lost`
 */
function readOr<Stored extends readonly unknown[]>(text: string, lost: Stored, optional = 0): Stored {
  const value: unknown = parseJsonOrNull(text)
  return isLike(lost, value, optional) ? value : lost
}

function isLike<Stored extends readonly unknown[]>(
  stored: Stored,
  value: unknown,
  optional: number,
): value is Stored {
  if (!Array.isArray(value)) return false
  return value.length >= stored.length && value.length <= stored.length + optional
}

export function toEntry(row: EntryRow): AuditEntry {
  const [originSalt, address, userAgent] = row.origin === null ? erasedOrigin : readOr(row.origin, lostOrigin)
  const [detailsSalt, requestId, subjectName, before, after] =
    row.details === null ? erasedDetails : readOr(row.details, lostDetails, 1)
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
    // An erased entry still belongs to its change.
    changeId: row.change_id,
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
