import sql from 'sql-template-tag'
import type { Action } from '../../contract/actions.ts'
import { firstHash, type Linked, linkText, originText } from '../../contract/audit-chain.ts'
import type { Database, Row } from '../database/database.ts'
import { timeOfId } from '../database/id.ts'
import { keptOf, nameOf, userIn } from './details.ts'
import { newSalts, sha256, type Writing } from './entry.ts'

/** A change to record. */
interface RecordedAction {
  readonly action: Action
  /** Id of the subject; null if it has none. */
  readonly id: string | null
  readonly before: object | null
  readonly after: object | null
  readonly fields?: readonly string[]
}

const maxUserAgentLength = 512

/**
 * Appends an entry in the transaction of its change. With a single writer it is linked to the previous entry at once; with
 * many writers (PostgreSQL), which would wait for each other, `linkEntries` links it later.
 */
export async function appendEntry(
  { database, newId, principal, origin }: Omit<Writing, 'now'>,
  { action, id: subjectId, before, after, fields }: RecordedAction,
): Promise<void> {
  const [originSalt, detailsSalt] = newSalts()
  const id = newId('aud')
  const record = after ?? before
  const userAgent = origin.userAgent?.slice(0, maxUserAgentLength) ?? null
  const from = originText({ originSalt, address: origin.address, userAgent })
  // Equals `detailsText`, without serializing `kept` twice.
  const kept = keptOf(before, after, fields)
  const named = JSON.stringify([detailsSalt, origin.requestId, nameOf(record)])
  const details = `${named.slice(0, -1)},${kept.before},${kept.after}]`
  const entry = {
    id,
    at: timeOfId(id),
    userId: principal.userId,
    credential: principal.credential,
    action,
    subjectId,
    aboutId: userIn(record),
    originDigest: sha256(from),
    detailsDigest: sha256(details),
  }
  const link = database.dialect.hasManyWriters ? unlinkedPlace() : await linkAfterLast(database, entry)
  database.later(sql`
    insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details,
                               details_digest, hash)
    values (${link.place}, ${id}, ${entry.userId}, ${entry.credential}, ${action}, ${subjectId}, ${entry.aboutId}, ${from},
            ${entry.originDigest}, ${details}, ${entry.detailsDigest}, ${link.hash})`)
}

/** Returns place and hash of the last linked entry. */
export async function lastLink(
  database: Database,
): Promise<{ readonly place: number; readonly hash: string }> {
  const last = await database.one<Row & { place: number; hash: string }>(
    sql`select place, hash from audit_entries where place > 0 order by place desc limit 1`,
  )
  return last ?? { place: 0, hash: firstHash }
}

async function linkAfterLast(database: Database, entry: Omit<Linked, 'place'>) {
  const last = await lastLink(database)
  const place = last.place + 1
  return { place, hash: sha256(linkText(last.hash, { ...entry, place })) }
}

/** Returns a random negative place for an entry that is not linked yet. */
function unlinkedPlace() {
  return { place: -1 - Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1)), hash: null }
}
