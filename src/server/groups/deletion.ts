import sql from 'sql-template-tag'
import type { DeletedGroup, Group, groups } from '../../contract/groups.ts'
import { visibleCourses, wasTaught } from '../access/sight.ts'
import { recordChange } from '../changes/change.ts'
import { eraseForGood, findDeleted } from '../courses/deleted-records.ts'
import type { Row } from '../database/database.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import { copyToTrash, restorableUntil, takeFromTrash, trashEnd } from '../database/trash.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { notFound, ProblemError } from '../problem-error.ts'
import { findGroup, findOwnGroup } from './group-row.ts'

/** To the trash, or permanently. */
export async function deleteGroup(call: Call<typeof groups.delete>): Promise<undefined> {
  const { database, params, query, now, principal } = call
  if (query.erase && !(await resolve(database, 'groups', params.groupId))) {
    return eraseDeleted(call, params.groupId)
  }
  const group = await findOwnGroup(call, params.groupId)
  const { id, version, courseId } = group
  requireVersion(call, version)
  if (query.erase) await eraseForGood(call, 'group', id)
  else await copyToTrash(database, 'group', { id, courseId: courseId ?? '', userId: principal.userId, now })
  await database.run(sql`delete from groups where id = ${id} and version = ${version}`)
  const action = query.erase ? 'group.erased' : 'group.deleted'
  await recordChange(call, { action, id, before: group, after: null })
  return undefined
}

async function eraseDeleted(call: Call, reference: string): Promise<undefined> {
  const deleted = await findDeleted(call, 'groups', reference)
  if (!deleted) throw notFound('group', reference)
  requireVersion(call, deleted.version)
  await eraseForGood(call, 'group', deleted.id)
  await recordChange(call, { action: 'group.erased', id: deleted.id, before: null, after: null })
  return undefined
}

interface DeletedRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly name: string
  readonly course_id: string | null
  readonly members: number
  readonly user_id: string
  readonly deleted_at: string
}

/** By default the most recent first, without those deleted with their course. */
export async function listDeletedGroups(call: Call<typeof groups.listDeleted>) {
  const { database, query, now } = call
  const { course_id: course } = query
  const courseId =
    course && (await resolveFilter(database, 'courses', course, 'course_id', visibleCourses(call)))
  return page<DeletedRow, DeletedGroup>(
    database,
    {
      columns: sql`d.id, t.external_id, t.name, t.course_id, d.members, d.user_id, d.deleted_at`,
      from: sql`deletions d join deleted_groups t on t.id = d.id`,
      base: sql`deletions d`,
      narrow: [courseId === undefined && wasTaught(call, sql`d.course_id`)],
      within: [
        { field: 'deletedAt', condition: during(sql`d.deleted_at`, query) },
        { field: 'deletedAt', condition: sql`d.kind = 'group' and d.deleted_at > ${trashEnd(now)}` },
        { field: 'deletedAt', condition: courseId && sql`d.course_id = ${courseId}` },
      ],
    },
    { sort: query.sort, expressions: { deletedAt: sql`d.deleted_at` }, id: sql`d.id` },
    query,
    (row) => ({
      id: row.id,
      externalId: row.external_id,
      name: row.name,
      courseId: row.course_id,
      members: row.members,
      userId: row.user_id,
      deletedAt: row.deleted_at,
      restorableUntil: restorableUntil(row.deleted_at),
    }),
  )
}

export async function restoreDeletedGroup(call: Call<typeof groups.restoreDeleted>): Promise<Group> {
  const { deletedGroupId } = call.params
  const deleted = await findDeleted(call, 'groups', deletedGroupId)
  if (!deleted) throw notFound('deleted group', deletedGroupId)
  requireVersion(call, deleted.version)
  return takeBack(call, deleted.id)
}

/** From the trash. Throws 409 `course_deleted` if its course is deleted. */
export async function takeBack(call: Call, id: string): Promise<Group> {
  const { database } = call
  const course = await database.one<Row & { id: string; title: string; name: string }>(sql`
    select c.id, c.title, g.name from deleted_groups g join deleted_courses c on c.id = g.course_id
    where g.id = ${id}`)
  if (course) {
    const detail = `Course ${course.title} of group ${course.name} is deleted; restore the course first.`
    throw new ProblemError('course_deleted', detail, { members: { id: course.id } })
  }
  await takeFromTrash(database, 'group', id)
  const group = await findGroup(call, id)
  await recordChange(call, { action: 'group.restored', id, before: null, after: group })
  return group
}
