import sql from 'sql-template-tag'
import { type DeletedGroup, Group, GroupInput, groups } from '../../contract/groups.ts'
import {
  courseFilter,
  groupCandidates,
  seenOnly,
  visibleCourses,
  visibleGroups,
  visibleRows,
  visibleUsers,
} from '../access/sight.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import {
  eraseDeleted,
  findDeleted,
  listDeleted,
  requireDeleted,
  trashOrErase,
} from '../courses/deleted-records.ts'
import type { Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { matchesReference, requireUnique, resolve, resolveFilters } from '../database/reference.ts'
import { findMatches, groupSearchKey, sortKey } from '../database/search.ts'
import { takeFromTrash } from '../database/trash.ts'
import { externalIdOfItem, readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/request-body.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { ProblemError, parentNotFound } from '../problem-error.ts'
import { findGroup, findOwnGroup, groupColumns, hasMember, requireMayChange, toGroup } from './group-row.ts'
import { addMember, addMembers, listMembers, listMemberships, removeMember } from './memberships.ts'

const order = {
  createdAt: sql`groups.created_at`,
  updatedAt: sql`groups.updated_at`,
  name: sql`groups.name_key`,
}

export const groupRoutes = routesOf(groups, {
  async list(call) {
    const { query, database } = call
    const course = await courseFilter(call, sql`groups.course_id`, query.course_id)
    const visible = visibleUsers(call)
    const members =
      query.user_id && (await resolveFilters(database, 'users', query.user_id, 'user_id', visible))
    return page(
      database,
      {
        columns: groupColumns,
        from: sql`groups`,
        by: [
          call.principal.sees !== 'all' && sql`groups.id in (${groupCandidates(call)})`,
          course,
          query.external_id && sql`groups.external_id = ${query.external_id}`,
        ],
        where: [visibleGroups(call)],
        narrow: [
          members && hasMember(members),
          query.managed_by && sql`groups.managed_by = ${query.managed_by}`,
          query.q && findMatches(database, 'groups', sql`groups.search_key`, query.q),
        ],
        within: [
          { field: 'createdAt', condition: during(order.createdAt, query) },
          { field: 'updatedAt', condition: during(order.updatedAt, { since: query.updated_since }) },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`groups.id` },
      query,
      toGroup,
    )
  },

  get: (call) => findGroup(call, call.params.groupId),

  create: createGroup,

  batch(call) {
    const { items, onExists } = readBatch(call.rawBody, 'fail')
    return runBatch(call, items, async (item) => {
      const before = await findExisting(item)
      return upsert(
        onExists,
        before,
        () => createGroup(item),
        async (id) => {
          if (before?.isDeleted) await takeBack(item, id)
          return updateGroup(item, id)
        },
      )
    })
  },

  update: (call) => updateGroup(call, call.params.groupId),
  delete: deleteGroup,
  listDeleted: (call) => listDeleted<DeletedGroup>(call, 'groups', sql`t.name, t.course_id, d.members`),

  async restoreDeleted(call) {
    const { id } = await requireDeleted(call, 'groups', call.params.deletedGroupId)
    return takeBack(call, id)
  },

  members: listMembers,
  addMember,
  removeMember,
  memberships: listMemberships,
  batchMembers: addMembers,
})

async function createGroup(call: Call): Promise<Group> {
  const { database, now } = call
  const input = resourceOf(call, GroupInput, Group)
  const course = await courseOf(call, input)
  requireMayChange(call, { ...input, ...course })
  const unique = { externalId: input.externalId }
  await requireUnique(database, 'groups', unique, undefined, visibleRows(call, 'groups'))
  const id = call.newId('grp')
  const { externalId, name, managedBy } = input
  await database.run(sql`
    insert into groups (id, external_id, name, name_key, search_key, course_id, managed_by, version, created_at, updated_at)
    values (${id}, ${externalId}, ${name}, ${sortKey(name)}, ${groupSearchKey(input)}, ${course.courseId}, ${managedBy},
            1, ${now}, ${now})`)
  const group: Group = {
    ...{ id, externalId, name, ...course, managedBy },
    ...{ version: 1, createdAt: now, updatedAt: now },
  }
  await recordChange(call, { action: 'group.created', id, before: null, after: group })
  return group
}

async function updateGroup(call: Call, reference: string): Promise<Group> {
  const { database, now } = call
  const current = await findOwnGroup(call, reference)
  const input = resourceOf(call, GroupInput, Group, current)
  requireVersion(call, current.version)
  const course = await courseOf(call, input)
  requireMayChange(call, { ...input, ...course })
  const { externalId, name, managedBy } = input
  const changed = changedFields({ externalId, name, managedBy, courseId: course.courseId }, current)
  if (changed.length === 0) return current
  if (changed.includes('externalId')) {
    await requireUnique(database, 'groups', { externalId }, current.id, visibleRows(call, 'groups'))
  }
  await database.run(sql`
    update groups set
      external_id = ${externalId}, name = ${name}, name_key = ${sortKey(name)}, search_key = ${groupSearchKey(input)},
      course_id = ${course.courseId}, managed_by = ${managedBy}, version = version + 1, updated_at = ${now}
    where id = ${current.id} and version = ${current.version}`)
  const group = await findGroup(call, current.id)
  await recordUpdate(call, 'group', current, group)
  return group
}

interface CourseName extends Row {
  readonly id: string
  readonly title: string
  readonly external_id: string | null
}

/** Throws 404 that points to an unknown one. */
async function courseOf(
  call: Call,
  { courseId: reference }: Pick<GroupInput, 'courseId'>,
): Promise<Pick<Group, 'courseId' | 'courseTitle' | 'courseExternalId'>> {
  if (reference === null) return { courseId: null, courseTitle: null, courseExternalId: null }
  const isCourse = seenOnly(matchesReference('courses', reference), visibleCourses(call))
  const course = await call.database.one<CourseName>(
    sql`select id, title, external_id from courses where ${isCourse}`,
  )
  if (!course) throw parentNotFound('#/courseId', 'course', reference)
  return { courseId: course.id, courseTitle: course.title, courseExternalId: course.external_id }
}

/** Returns the group of a batch item, by its external id, also if it is in the trash. */
async function findExisting(
  call: Call,
): Promise<{ readonly id: string; readonly version: number; readonly isDeleted: boolean } | undefined> {
  const externalId = externalIdOfItem(call)
  if (externalId === undefined) return undefined
  const isNamed = sql`external_id = ${externalId}`
  const row = await call.database.one<Row & { id: string; version: number }>(
    sql`select id, version from groups where ${seenOnly(isNamed, visibleGroups(call))}`,
  )
  if (row) return { ...row, isDeleted: false }
  const deleted = await findDeleted(call, 'groups', `ext:${externalId}`)
  // No stored version: restoring the group counts as a change, even if nothing else changes.
  return deleted && { id: deleted.id, version: 0, isDeleted: true }
}

async function deleteGroup(call: Call<typeof groups.delete>): Promise<undefined> {
  const { database, params, query } = call
  if (query.erase && !(await resolve(database, 'groups', params.groupId))) {
    return eraseDeleted(call, 'groups', params.groupId, 'group')
  }
  const group = await findOwnGroup(call, params.groupId)
  const { id, version, courseId } = group
  requireVersion(call, version)
  await trashOrErase(call, 'group', { id, courseId: courseId ?? '' })
  await database.run(sql`delete from groups where id = ${id} and version = ${version}`)
  const action = query.erase ? 'group.erased' : 'group.deleted'
  await recordChange(call, { action, id, before: group, after: null })
  return undefined
}

/** Throws 409 `course_deleted`. */
async function takeBack(call: Call, id: string): Promise<Group> {
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
