import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import { type Condition, fenced } from '../database/page.ts'
import { referenceFilter, type VisibleRows } from '../database/reference.ts'
import type { Sight } from './principal.ts'

/** Another system has no id and sees everything. */
export interface Seer {
  readonly principal: { readonly sees: Sight; readonly userId: string | null }
}

export type Asking = Seer & { readonly database: Database }

export const instructorSetting = 'instructor_access'

export const enrollmentSetting = 'instructor_enrollment'

export const instructorEnrollment = sql`
  coalesce((select value from settings where name = ${enrollmentSetting}), 'known')`

export const instructorAccess = sql`
  coalesce((select value from settings where name = ${instructorSetting}), 'taught')`

/**
 * Courses where the caller is enrolled as an instructor, and those that they created, unless that enrolment has ended.
 * Undefined for a caller who sees others.
 */
export function taughtCourses({ principal }: Seer, trash: '' | 'deleted_' = ''): Sql | undefined {
  if (principal.sees !== 'taught') return undefined
  const { userId } = principal
  const [courses, enrollments] = [raw(`${trash}courses`), raw(`${trash}enrollments`)]
  // SQLite would read all instructors of the academy. The trash has an index of instructors instead.
  const counts = sql`role = 'instructor' and status in ('active', 'completed')`
  // All of a unique key, which SQLite prefers to reading the course's enrolments.
  const isEnrolled = sql`i.user_id = ${userId} and i.course_id = made.id and i.role = 'instructor'`
  return sql`
    select course_id from ${enrollments} where user_id = ${userId} and ${trash ? counts : fenced([counts])}
    union all select made.id from ${courses} made where made.created_by = ${userId} and not exists (
      select 1 from ${enrollments} i where ${isEnrolled} and ${fenced([sql`i.status in ('inactive', 'deleted')`])})`
}

/** Undefined for a caller who sees others. */
export function isTaught(seer: Seer, column: Sql): Sql | undefined {
  const taught = taughtCourses(seer)
  return taught && sql`${column} in (${taught})`
}

/**
 * Undefined for all. A learner knows published courses and those of their own enrolments and progress; the existence of
 * others must not be revealed.
 */
export function visibleCourses(seer: Seer, alias = 'courses'): Sql | undefined {
  const { sees, userId } = seer.principal
  const course = raw(alias)
  if (sees !== 'own') return isTaught(seer, sql`${course}.id`)
  return sql`(${course}.status = 'published'
    or exists (select 1 from enrollments e where e.course_id = ${course}.id and e.user_id = ${userId})
    or exists (select 1 from progress p where p.course_id = ${course}.id and p.user_id = ${userId}))`
}

/** Undefined for all. A learner sees themselves, an instructor also everyone enrolled in a course that they teach. */
export function visibleUsers(seer: Seer, alias = 'users'): Sql | undefined {
  const { sees, userId } = seer.principal
  if (sees === 'all') return undefined
  const id = sql`${raw(alias)}.id`
  const isSelf = sql`${id} = ${userId}`
  if (sees === 'own') return isSelf
  return sql`(${isSelf} or exists (
    select 1 from enrollments seen where seen.user_id = ${id} and ${isParticipant(seer)}))`
}

/** Undefined for all. */
export function visibleRows(
  seer: Seer,
  table: 'courses' | 'lessons' | 'users' | 'groups',
): VisibleRows | undefined {
  const users = visibleUsers(seer)
  if (table === 'users') return users && { stored: users, deleted: sql`false` }
  if (table === 'groups') {
    const groups = visibleGroups(seer)
    return groups && { stored: groups, deleted: wasTaught(seer, sql`deleted_groups.course_id`) ?? sql`false` }
  }
  const column = table === 'courses' ? 'courses.id' : 'lessons.course_id'
  const stored = isTaught(seer, raw(column))
  const deleted = wasTaught(seer, raw(`deleted_${column}`))
  return stored && deleted && { stored, deleted }
}

/** Includes deleted courses. Undefined for a caller who sees others. */
export function wasTaught(seer: Seer, column: Sql): Sql | undefined {
  const [taught, deleted] = [taughtCourses(seer), taughtCourses(seer, 'deleted_')]
  return taught && deleted && sql`${column} in (${taught} union all ${deleted})`
}

export function participants(seer: Seer): Sql {
  return sql`
    select ${seer.principal.userId} as id
    union all select seen.user_id from enrollments seen where ${isParticipant(seer)}`
}

function isParticipant(seer: Seer): Sql {
  return sql`seen.status <> 'deleted' and ${isTaught(seer, sql`seen.course_id`) ?? empty}`
}

/**
 * Returns the condition on records of a user in a course (enrolments, progress, grades) for those that the caller may
 * see: their own, or those of the courses that they teach. Undefined for all.
 */
export function visibleRecords(seer: Seer, alias: 'e' | 'p' | 'g'): Sql | undefined {
  const { sees, userId } = seer.principal
  const table = raw(alias)
  return sees === 'own' ? sql`${table}.user_id = ${userId}` : isTaught(seer, sql`${table}.course_id`)
}

/** All, if `visible` is undefined. */
export function seenOnly(condition: Sql, visible: Sql | undefined): Sql {
  return visible ? join([condition, visible], ' and ') : condition
}

/** Throws 404 as `referenceFilter`. */
export function courseFilter(call: Asking, column: Sql, list: string | undefined) {
  return referenceFilter(column, call.database, 'courses', list, 'course_id', visibleCourses(call))
}

/** `name` is the parameter of the user. Throws 404 as `referenceFilter`. */
export async function recordFilters<Name extends 'user_id' | 'learner_id'>(
  call: Asking & { readonly query: { readonly [Parameter in Name | 'course_id']?: string | undefined } },
  alias: 'e' | 'g',
  userParameter: Name,
): Promise<Condition[]> {
  const { database, query } = call
  const table = raw(alias)
  const user = await referenceFilter(
    sql`${table}.user_id`,
    database,
    'users',
    query[userParameter],
    userParameter,
    visibleUsers(call),
  )
  const course = await courseFilter(call, sql`${table}.course_id`, query.course_id)
  // `courseFilter` finds only courses that the caller teaches.
  const isLimited = query.course_id !== undefined && call.principal.sees === 'taught'
  const visible = isLimited ? undefined : visibleRecords(call, alias)
  // A user has few records: SQLite would rather read those of the course.
  if (user) return [user, fenced([visible, course])]
  return call.principal.sees === 'own' ? [visible, fenced([course])] : [visible, course]
}

/** Makes PostgreSQL look up each row: it would hash the rows of an `exists` for all rows that it tests. */
const forEach = sql`limit 1 offset 0`

function membershipsOfParticipants(seer: Seer): Sql {
  return sql`enrollments seen join group_members m on m.user_id = seen.user_id and ${isParticipant(seer)}`
}

/**
 * Undefined for all. A learner sees their own, an instructor those of the courses that they teach, and those without a
 * course that have a member there.
 */
export function visibleGroups(seer: Seer): Sql | undefined {
  const { sees, userId } = seer.principal
  if (sees === 'all') return undefined
  if (sees === 'own') {
    return sql`exists (select 1 from group_members m where m.user_id = ${userId} and m.group_id = groups.id)`
  }
  return sql`(${isTaught(seer, sql`groups.course_id`)} or groups.course_id is null and exists (
    select 1 from ${membershipsOfParticipants(seer)} where m.group_id = groups.id ${forEach}))`
}

/** Selects the ids of all groups that a caller with limited sight sees, some more than once, and of some others. */
export function groupCandidates(seer: Seer): Sql {
  const { sees, userId } = seer.principal
  if (sees === 'own') return sql`select group_id as id from group_members where user_id = ${userId}`
  return sql`select id from groups where ${isTaught(seer, sql`course_id`)}
    union all select m.group_id from ${membershipsOfParticipants(seer)}`
}

/**
 * Undefined for all. A learner sees their own. An instructor sees all members of the groups of their courses, and of
 * groups without a course those who are in their courses.
 */
export function visibleMemberships(seer: Seer): Sql | undefined {
  const { sees, userId } = seer.principal
  if (sees === 'all') return undefined
  if (sees === 'own') return sql`m.user_id = ${userId}`
  return sql`m.id in (
    select m.id from groups g join group_members m on m.group_id = g.id
      where ${isTaught(seer, sql`g.course_id`) ?? empty}
    union all select m.id from ${membershipsOfParticipants(seer)} join groups g on g.id = m.group_id and g.course_id is null)`
}
