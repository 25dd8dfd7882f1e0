import sql, { join, type Sql } from 'sql-template-tag'
import { Group, GroupInput, groups } from '../../contract/groups.ts'
import {
  type Asking,
  courseFilter,
  groupCandidates,
  seenOnly,
  visibleCourses,
  visibleGroups,
  visibleRows,
  visibleUsers,
} from '../access/sight.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import { findDeleted } from '../courses/deleted-records.ts'
import type { Row } from '../database/database.ts'
import { during } from '../database/keyset.ts'
import { page, usualBounds } from '../database/page.ts'
import { matchesReference, requireUnique, resolveFilters } from '../database/reference.ts'
import { findMatches, groupSearchKey, sortKey } from '../database/search.ts'
import { externalIdOfItem, readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/json.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { parentNotFound } from '../problem-error.ts'
import { deleteGroup, listDeletedGroups, restoreDeletedGroup, takeBack } from './deletion.ts'
import {
  findGroup,
  findOwnGroup,
  type GroupRow,
  groupColumns,
  hasMember,
  limitedBounds,
  maxCandidates,
  requireMayChange,
  toGroup,
} from './group-row.ts'
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
    const isLimited = call.principal.sees !== 'all'
    const candidates = isLimited && (await candidatesOf(call))
    const visible = visibleUsers(call)
    const members =
      query.user_id && (await resolveFilters(database, 'users', query.user_id, 'user_id', visible))
    return page<GroupRow, Group>(
      database,
      {
        columns: groupColumns,
        from: sql`groups`,
        where: [visibleGroups(call)],
        narrow: [
          candidates,
          members && hasMember(members),
          course.several,
          query.external_id && sql`groups.external_id = ${query.external_id}`,
          query.managed_by && sql`groups.managed_by = ${query.managed_by}`,
          query.q && (await findMatches(database, 'groups', sql`groups.search_key`, query.q)),
        ],
        within: [
          { field: 'createdAt', condition: course.one },
          { field: 'createdAt', condition: during(order.createdAt, query) },
          { field: 'updatedAt', condition: during(order.updatedAt, { since: query.updated_since }) },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`groups.id` },
      query,
      toGroup,
      isLimited ? limitedBounds : usualBounds,
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
  listDeleted: listDeletedGroups,
  restoreDeleted: restoreDeletedGroup,
  members: listMembers,
  addMember,
  removeMember,
  memberships: listMemberships,
  batchMembers: addMembers,
})

/** Those that a caller may see, and some more; undefined if these are too many. */
async function candidatesOf(call: Asking): Promise<Sql | undefined> {
  const rows = await call.database.all<Row & { id: string }>(
    sql`select id from (${groupCandidates(call)} limit ${maxCandidates + 1}) found`,
  )
  if (rows.length > maxCandidates) return undefined
  const ids = [...new Set(rows.map(({ id }) => id))]
  return ids.length === 0 ? sql`false` : sql`groups.id in (${join(ids)})`
}

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
