import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database } from '../database/database.ts'

/** Lease of a parked message, which waits for an earlier one about the same subject. */
export const parkedLease = ''

/**
 * Returns the condition of the partial index by subject, word for word: messages that a dispatcher has touched. New messages
 * are not in it, which makes writing them cheaper.
 */
export function isInSubjectIndex(message: string): Sql {
  return raw(`(${message}.lease is not null or ${message}.step > 0 or ${message}.due_at is null)`)
}

export async function deleteMessagesAbout(database: Database, subject: string): Promise<void> {
  await database.run(
    sql`delete from webhook_messages as m where m.subject = ${subject} and ${isInSubjectIndex('m')}`,
  )
  // The index of due messages contains the subject.
  await database.run(sql`
    delete from webhook_messages where id in (
      select id from webhook_messages where due_at is not null and subject = ${subject})`)
}
