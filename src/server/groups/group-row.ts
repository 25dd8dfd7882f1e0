import sql, { join, type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { Group, Membership } from '../../contract/groups.ts'
import { type Asking, visibleGroups } from '../access/sight.ts'
import type { Found } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { resolve, resolveFilters } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { notFound, ProblemError } from '../problem-error.ts'

/** From `groups`. */
export const groupColumns = sql`groups.id, groups.external_id, groups.name, groups.course_id,
  (select title from courses where id = groups.course_id) as course_title,
  (select external_id from courses where id = groups.course_id) as course_external_id,
  groups.managed_by, groups.version, groups.created_at, groups.updated_at`

export const toGroup = recordReader<Group>(calls.groups.get)

export function hasMember(userIds: readonly string[]): Found {
  const theirs = sql`from group_members m where m.user_id in (${join(userIds)})`
  return {
    ids: sql`select m.group_id ${theirs}`,
    test: sql`exists (select 1 ${theirs} and m.group_id = groups.id)`,
  }
}

/** Throws 404, also if the caller may not see it. */
export async function findGroup(call: Call, reference: string): Promise<Group> {
  const id = await resolve(call.database, 'groups', reference, visibleGroups(call))
  const row = id && (await call.database.one(sql`select ${groupColumns} from groups where id = ${id}`))
  if (!row) throw notFound('group', reference)
  return toGroup(row)
}

/** Throws 403. Instructors change the groups of the courses that they teach. */
export function requireMayChange(
  { principal }: Call,
  { name, courseId }: Pick<Group, 'name' | 'courseId'>,
): void {
  if (principal.sees !== 'taught' || courseId !== null) return
  const detail = `Role ${principal.role} can change groups of courses only; group ${name} belongs to no course.`
  throw new ProblemError('forbidden', detail)
}

/** Throws 404, and 403 as `requireMayChange`. */
export async function findOwnGroup(call: Call, reference: string): Promise<Group> {
  const group = await findGroup(call, reference)
  requireMayChange(call, group)
  return group
}

/**
 * `user` is the column with the id of a row's user; `idsOf` selects the rows whose users are in rows `m` of
 * group_members. Undefined without this filter. Throws 404.
 */
export async function ofMembers(
  call: Asking,
  list: string | undefined,
  user: Sql,
  idsOf: (isIn: Sql) => Sql,
): Promise<Found | undefined> {
  if (list === undefined) return undefined
  const isIn = isInGroups(await groupIdsOf(call, list))
  return {
    ids: idsOf(isIn),
    test: sql`exists (select 1 from group_members m where ${isIn} and m.user_id = ${user})`,
  }
}

/** Members are rows `m` of group_members. */
export function enrollmentsOfMembers(isIn: Sql): Sql {
  return sql`select i.id from group_members m cross join enrollments i where ${isIn} and i.user_id = m.user_id`
}

/** Throws 404 for one that the caller may not see. */
export function groupIdsOf(call: Asking, list: string): Promise<string[]> {
  return resolveFilters(call.database, 'groups', list, 'group_id', visibleGroups(call))
}

/** On rows `m` of group_members. */
export function isInGroups(ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`m.group_id = ${ids[0]}` : sql`m.group_id in (${join(ids)})`
}

/** From `group_members m`. */
export const membershipColumns = sql`m.id, m.group_id,
  (select name from groups where id = m.group_id) as group_name,
  (select external_id from groups where id = m.group_id) as group_external_id,
  m.user_id, (select email from users where id = m.user_id) as user_email,
  (select external_id from users where id = m.user_id) as user_external_id, m.added_at`

export const toMembership = recordReader<Membership>(calls.groups.members)
