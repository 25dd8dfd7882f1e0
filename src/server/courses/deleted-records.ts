import sql, { raw, type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { courses } from '../../contract/courses.ts'
import type { groups } from '../../contract/groups.ts'
import type { lessons } from '../../contract/lessons.ts'
import { seenOnly, visibleCourses, wasTaught } from '../access/sight.ts'
import { recordChange } from '../changes/change.ts'
import type { Row } from '../database/database.ts'
import { during, type Page, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { kindOf, matchesReference, resolveFilter } from '../database/reference.ts'
import { copyToTrash, eraseFromTrash, restorableUntil, type Trashed, trashEnd } from '../database/trash.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { deleteResponses } from '../http/idempotency.ts'
import { notFound } from '../problem-error.ts'

type TrashedTable = 'courses' | 'lessons' | 'groups'

interface DeletedRecord extends Row {
  readonly id: string
  readonly version: number
  /** Its own id for a course; empty for a group without one. */
  readonly course_id: string
}

/** Undefined if it cannot be restored, or the caller may not see it. */
export function findDeleted(
  call: Call,
  table: TrashedTable,
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

/** Throws 404 for one that cannot be restored. */
export async function requireDeleted(
  call: Call,
  table: TrashedTable,
  reference: string,
  noun = `deleted ${kindOf[table]}`,
) {
  const deleted = await findDeleted(call, table, reference)
  if (!deleted) throw notFound(noun, reference)
  requireVersion(call, deleted.version)
  return deleted
}

/** Moves a record to the trash, or removes it permanently, before its row is deleted. */
export async function trashOrErase(
  call: Call<typeof courses.delete> | Call<typeof lessons.delete> | Call<typeof groups.delete>,
  kind: Trashed,
  { id, courseId }: { readonly id: string; readonly courseId: string },
): Promise<void> {
  const { database, now, principal } = call
  // A course includes its previously deleted lessons.
  if (call.query.erase) await eraseForGood(call, kind, id)
  else await copyToTrash(database, kind, { id, courseId, userId: principal.userId, now })
}

export async function eraseDeleted(
  call: Call,
  table: TrashedTable,
  reference: string,
  noun?: string,
): Promise<undefined> {
  const { id } = await requireDeleted(call, table, reference, noun)
  const kind = kindOf[table] as Trashed
  await eraseForGood(call, kind, id)
  await recordChange(call, { action: `${kind}.erased`, id, before: null, after: null })
  return undefined
}

/** Also the stored responses that contain the record. */
async function eraseForGood({ database }: Call, kind: Trashed, id: string): Promise<void> {
  await eraseFromTrash(database, kind, id)
  await deleteResponses(database, [id])
}

/**
 * Lists the deleted records of a kind, by default the most recent first, without those deleted with their course.
 *
 * @param columns further ones, of `deletions d` and of the table of deleted records, `t`
 */
export async function listDeleted<Shape>(
  call: Call<typeof courses.listDeleted> | Call<typeof lessons.listDeleted> | Call<typeof groups.listDeleted>,
  table: TrashedTable,
  columns: Sql,
): Promise<Page<Shape>> {
  const { database, query, now } = call
  const course = 'course_id' in query ? query.course_id : undefined
  const courseId =
    course && (await resolveFilter(database, 'courses', course, 'course_id', visibleCourses(call)))
  const read = recordReader<Shape>(calls[table].listDeleted)
  return page<Row & { deleted_at: string }, Shape>(
    database,
    {
      columns: sql`d.id, t.external_id, ${columns}, d.user_id, d.deleted_at`,
      from: sql`deletions d join ${raw(`deleted_${table}`)} t on t.id = d.id`,
      base: sql`deletions d`,
      by: [courseId === undefined && wasTaught(call, sql`d.course_id`)],
      within: [
        { field: 'deletedAt', condition: during(sql`d.deleted_at`, query) },
        { field: 'deletedAt', condition: sql`d.kind = ${kindOf[table]} and d.deleted_at > ${trashEnd(now)}` },
        { field: 'deletedAt', condition: courseId && sql`d.course_id = ${courseId}` },
      ],
    },
    { sort: query.sort, expressions: { deletedAt: sql`d.deleted_at` }, id: sql`d.id` },
    query,
    (row) => ({ ...read(row), restorableUntil: restorableUntil(row.deleted_at) }),
  )
}
