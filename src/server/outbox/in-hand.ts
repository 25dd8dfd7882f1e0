import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database } from '../database/database.ts'

/** The lease of a message that nobody sends: it waits for an earlier one about the same subject. */
export const parked = ''

/**
 * The condition of the index by subject, in its words: a message that somebody has looked at. All others wait in the order
 * in which they were made, and writing one costs no place among those about the same subject.
 */
export function inHand(message: string): Sql {
  return raw(`(${message}.lease is not null or ${message}.step > 0 or ${message}.due_at is null)`)
}

/** Deletes all messages about a subject. */
export async function forgetMessages(database: Database, subject: string): Promise<void> {
  await database.run(sql`delete from webhook_messages as m where m.subject = ${subject} and ${inHand('m')}`)
  // Of those that wait there are 100,000 for an endpoint at most; the index of what is due has their subjects.
  await database.run(sql`
    delete from webhook_messages where id in (
      select id from webhook_messages where due_at is not null and subject = ${subject})`)
}
