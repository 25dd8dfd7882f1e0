import sql from 'sql-template-tag'
import type { Action } from '../../contract/actions.ts'
import { type Linked, linkText } from '../../contract/audit-chain.ts'
import type { Row, Store, Transaction } from '../database/database.ts'
import { timeOfId } from '../database/id.ts'
import { lastLink, sha256 } from './audit-entry.ts'

/** Entries per transaction, about ten milliseconds' worth. */
const batchSize = 500

interface UnlinkedRow extends Row {
  readonly place: number
  readonly id: string
  readonly user_id: string | null
  readonly credential: string | null
  readonly action: string
  readonly subject_id: string | null
  readonly about_id: string | null
  readonly origin_digest: string
  readonly details_digest: string
}

/**
 * Links entries that were appended without a place, in the order of their ids, to the last linked one. Returns true if more
 * are left. Of two servers that do so at the same time, one retries.
 */
export async function linkEntries(database: Transaction, limit = batchSize): Promise<boolean> {
  const waiting = await database.all<UnlinkedRow>(sql`
    select place, id, user_id, credential, action, subject_id, about_id, origin_digest, details_digest from audit_entries
    where place < 0 order by place limit ${limit}`)
  if (waiting.length === 0) return false
  const last = await lastLink(database)
  let { place, hash } = last
  for (const row of waiting.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    place += 1
    hash = sha256(linkText(hash, linkedOf(row, place)))
    database.queue(sql`update audit_entries set place = ${place}, hash = ${hash} where place = ${row.place}`)
  }
  return waiting.length === limit
}

/** Links all entries, in small transactions. */
export async function linkAll(database: Pick<Store, 'write'>): Promise<void> {
  while (await database.write((transaction) => linkEntries(transaction)));
}

function linkedOf(row: UnlinkedRow, place: number): Linked {
  return {
    place,
    id: row.id,
    at: timeOfId(row.id),
    userId: row.user_id,
    credential: row.credential,
    action: row.action as Action,
    subjectId: row.subject_id,
    aboutId: row.about_id,
    originDigest: row.origin_digest,
    detailsDigest: row.details_digest,
  }
}

/**
 * Erases personal data of a user from the audit log: details of entries about them, and origins of entries by them. The
 * entries stay, with the digests that link them.
 */
export async function eraseFromAudit(database: Transaction, userId: string): Promise<void> {
  for (const column of [sql`subject_id`, sql`about_id`]) {
    await database.run(sql`update audit_entries set details = null where ${column} = ${userId}`)
  }
  await database.run(sql`update audit_entries set origin = null where user_id = ${userId}`)
  // Failed sign-ins as this user were mostly theirs.
  await database.run(
    sql`update audit_entries set origin = null where subject_id = ${userId} and user_id is null`,
  )
  // Link them before the erasure's own entry: `audit verify` accepts erased entries only if the erasure comes later.
  if (database.dialect.hasManyWriters) while (await linkEntries(database));
}
