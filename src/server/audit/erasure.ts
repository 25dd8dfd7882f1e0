import sql from 'sql-template-tag'
import type { Transaction } from '../database/database.ts'
import { linkEntries } from './link.ts'

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
