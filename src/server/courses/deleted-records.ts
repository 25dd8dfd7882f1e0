import sql, { raw } from 'sql-template-tag'
import { seenOnly, wasTaught } from '../access/sight.ts'
import type { Row } from '../database/database.ts'
import { matchesReference } from '../database/reference.ts'
import { eraseFromTrash, type Trashed, trashEnd } from '../database/trash.ts'
import type { Call } from '../http/handler.ts'
import { deleteResponses } from '../http/idempotency.ts'

interface DeletedRecord extends Row {
  readonly id: string
  readonly version: number
  /** Its own id for a course; empty for a group without one. */
  readonly course_id: string
}

/** Returns the deleted record of a reference, if it can be restored and the caller may see it. */
export function findDeleted(
  call: Call,
  table: 'courses' | 'lessons' | 'groups',
  reference: string,
): Promise<DeletedRecord | undefined> {
  const { database, now } = call
  const rows = `deleted_${table}`
  return database.one<DeletedRecord>(sql`
    select t.id, t.version, d.course_id from (
      select id, version from ${raw(rows)} where ${matchesReference(table, reference, { rows })}) t
    join deletions d on d.id = t.id
    where ${seenOnly(sql`d.deleted_at > ${trashEnd(now)}`, wasTaught(call, sql`d.course_id`))}`)
}

/** Also deletes the stored responses that contain the record. */
export async function eraseForGood({ database }: Call, kind: Trashed, id: string): Promise<void> {
  await eraseFromTrash(database, kind, id)
  await deleteResponses(database, [id])
}
