import sql from 'sql-template-tag'
import type { Transaction } from '../database/database.ts'
import { linkEntries } from './link.ts'

/**
 * Takes out of the audit log what tells who a user was: the details of what concerns them, and from where they did what
 * they did. What happened stays, with the digests of what is gone, by which the entries stay linked.
 */
export async function eraseFromAudit(database: Transaction, userId: string): Promise<void> {
  for (const column of [sql`subject_id`, sql`about_id`]) {
    await database.run(sql`update audit_entries set details = null where ${column} = ${userId}`)
  }
  await database.run(sql`update audit_entries set origin = null where user_id = ${userId}`)
  // Who failed to sign in as them was mostly them.
  await database.run(
    sql`update audit_entries set origin = null where subject_id = ${userId} and user_id is null`,
  )
  // Their places come before that of the erasure, which is appended next: a check takes a later erasure alone.
  if (database.dialect.hasManyWriters) while (await linkEntries(database));
}
