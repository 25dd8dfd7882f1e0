import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { Group, GroupInput, groups } from '../../contract/groups.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import { visibleCourses } from '../courses/course-row.ts'
import type { Row } from '../database/database.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { matchesReference, referenceFilter, requireUnique, resolveFilters } from '../database/reference.ts'
import { findMatches, groupSearchKey, sortKey } from '../database/search.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, onlyUserOf, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/json.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { parentNotFound } from '../problem-error.ts'
import {
  deleteGroup,
  findDeletedGroup,
  listDeletedGroups,
  restoreDeletedGroup,
  takeBack,
} from './deletion.ts'
import { findGroup, type GroupRow, groupColumns, hasMember, toGroup } from './group-row.ts'
import { addMember, addMembers, listMembers, listMemberships, removeMember } from './memberships.ts'

const order = {
  createdAt: sql`groups.created_at`,
  updatedAt: sql`groups.updated_at`,
  name: sql`groups.name_key`,
}

export const groupRoutes = routesOf(groups, {
  async list(call) {
    const { query, database } = call
    const only = onlyUserOf(call)
    const course = await referenceFilter(
      sql`groups.course_id`,
      database,
      'courses',
      query.course_id,
      'course_id',
      visibleCourses(call),
    )
    const own = only === undefined ? undefined : sql`id = ${only}`
    const members = query.user_id && (await resolveFilters(database, 'users', query.user_id, 'user_id', own))
    return page<GroupRow, Group>(
      database,
      {
        columns: groupColumns,
        from: sql`groups`,
        narrow: [
          only && hasMember([only]),
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

async function createGroup(call: Call): Promise<Group> {
  const { database, now } = call
  const input = resourceOf(call, GroupInput, Group)
  const course = await courseOf(call, input)
  await requireUnique(database, 'groups', { externalId: input.externalId }, undefined)
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
  const current = await findGroup(call, reference)
  const input = resourceOf(call, GroupInput, Group, current)
  requireVersion(call, current.version)
  const course = await courseOf(call, input)
  const { externalId, name, managedBy } = input
  const changed = changedFields({ externalId, name, managedBy, courseId: course.courseId }, current)
  if (changed.length === 0) return current
  if (changed.includes('externalId')) await requireUnique(database, 'groups', { externalId }, current.id)
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

/** Finds the course of a group; throws 404 that points to an unknown one. */
async function courseOf(
  { database }: Call,
  { courseId: reference }: Pick<GroupInput, 'courseId'>,
): Promise<Pick<Group, 'courseId' | 'courseTitle' | 'courseExternalId'>> {
  if (reference === null) return { courseId: null, courseTitle: null, courseExternalId: null }
  const course = await database.one<CourseName>(
    sql`select id, title, external_id from courses where ${matchesReference('courses', reference)}`,
  )
  if (!course) throw parentNotFound('#/courseId', 'course', reference)
  return { courseId: course.id, courseTitle: course.title, courseExternalId: course.external_id }
}

/** Returns the group of a batch item, by its external id, also if it is in the trash. */
async function findExisting(
  call: Call,
): Promise<{ readonly id: string; readonly version: number; readonly isDeleted: boolean } | undefined> {
  const externalId = isJsonObject(call.rawBody) ? call.rawBody['externalId'] : undefined
  if (typeof externalId !== 'string' || !isStorableText(externalId)) return undefined
  const row = await call.database.one<Row & { id: string; version: number }>(
    sql`select id, version from groups where external_id = ${externalId}`,
  )
  if (row) return { ...row, isDeleted: false }
  const deleted = await findDeletedGroup(call, `ext:${externalId}`)
  // Restoring it is a change, whatever else changes.
  return deleted && { id: deleted.id, version: 0, isDeleted: true }
}
