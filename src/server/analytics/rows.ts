import sql, { join, raw, type Sql } from 'sql-template-tag'
import { type LearnerRow, learnerFields } from '../../contract/learner-row.ts'
import type { Cell, Row } from '../database/database.ts'
import { type Condition, where } from '../database/page.ts'
import { isInGroups } from '../groups/group-row.ts'
import type { RowFilter } from './row-filter.ts'

type ColumnName = keyof LearnerRow

/** In the order of the CSV. */
export const columns = Object.keys(learnerFields) as readonly ColumnName[]

/** The `case` keeps the planner from an index by role, which nearly all match. */
export function isLearnerEnrollment(alias: 'e' | 'o'): Sql {
  return sql`case when ${raw(alias)}.role = 'learner' then 1 else 0 end = 1`
}

export function countsAsLearner(alias: 'e' | 'o'): Sql {
  const enrollment = raw(alias)
  return sql`case when ${enrollment}.role = 'learner' and ${enrollment}.status <> 'deleted' then 1 else 0 end = 1`
}

/** As text; null without a grade. */
export const passed = sql`case when g.percent is null then null
  when g.percent >= c.passing_score then 'true' else 'false' end`

/** In a query over enrolments with `u`, `c`, `e`, `p` and `g`. */
export const expressionByColumn: Readonly<Record<ColumnName, Sql>> = {
  learnerId: sql`u.id`,
  email: sql`u.email`,
  firstName: sql`u.profile ->> 'firstName'`,
  lastName: sql`u.profile ->> 'lastName'`,
  externalId: sql`u.external_id`,
  courseId: sql`c.id`,
  courseTitle: sql`c.title`,
  difficulty: sql`c.difficulty`,
  enrollmentStatus: sql`e.status`,
  enrolledAt: sql`e.enrolled_at`,
  progressStatus: sql`coalesce(p.status, 'not_started')`,
  completionPercentage: sql`coalesce(p.percentage, 0)`,
  startedAt: sql`p.started_at`,
  lastAccessed: sql`p.last_accessed`,
  completedAt: sql`p.completed_at`,
  gradePercent: sql`g.percent`,
  passed,
  gradeUpdatedAt: sql`g.updated_at`,
  courseExternalId: sql`c.external_id`,
}

/** From `u`, `c`, `e`, `p` and `g` in a query over enrolments. */
export const selected = join(
  columns.map((name) => sql`${expressionByColumn[name]} as ${raw(`"${name}"`)}`),
  ', ',
)

export function toLearnerRow(row: Row): LearnerRow {
  return toRow(columns.map((name) => row[name] ?? null))
}

export function toRow(cells: readonly Cell[]): LearnerRow {
  return Object.fromEntries(
    columns.map((name, index) => {
      const cell = cells[index] ?? null
      return [name, name === 'passed' && cell !== null ? cell === 'true' : cell]
    }),
  ) as LearnerRow
}

/**
 * Tables of learners' enrolments: `u`, `e` and `c`. SQLite keeps the order of a cross join, so the first table decides
 * which index is used. PostgreSQL chooses an order itself.
 */
export interface Joined {
  readonly tables: Sql
  readonly on: Sql
}

const asLearner = isLearnerEnrollment('e')
export const learning = sql`left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
  left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id`

export const byUser: Joined = {
  tables: sql`users u cross join enrollments e cross join courses c`,
  on: sql`e.user_id = u.id and ${asLearner} and c.id = e.course_id`,
}

export function byMember(groupIds: readonly string[]): Joined {
  // A user may be in several of them.
  const columns = groupIds.length === 1 ? sql`m.user_id` : sql`distinct m.user_id`
  return byUsersOf(sql`select ${columns} from group_members m where ${isInGroups(groupIds)}`)
}

export function byUsersOf(users: Sql): Joined {
  return {
    tables: sql`(${users}) k cross join users u cross join enrollments e cross join courses c`,
    on: sql`u.id = k.user_id and e.user_id = u.id and ${asLearner} and c.id = e.course_id`,
  }
}

export const byCourse: Joined = {
  tables: sql`courses c cross join enrollments e cross join users u`,
  on: sql`e.course_id = c.id and ${asLearner} and u.id = e.user_id`,
}

export const byEmail: Joined = {
  tables: sql`enrollments e cross join users u cross join courses c`,
  on: sql`e.role = 'learner' and u.id = e.user_id and c.id = e.course_id`,
}

/** By course and time of the last access. */
export function byTime(inPeriod: Sql): Joined {
  return {
    tables: sql`courses c cross join progress p cross join enrollments e cross join users u`,
    on: sql`p.course_id = c.id and ${inPeriod} and e.user_id = p.user_id and e.course_id = p.course_id and e.role = 'learner' and u.id = e.user_id`,
  }
}

export function byStatus(statuses: readonly string[]): Joined {
  return {
    tables: sql`enrollments e cross join courses c cross join users u`,
    on: sql`e.role = 'learner' and e.status in (${join(statuses)}) and c.id = e.course_id and u.id = e.user_id`,
  }
}

/** Returns the enrolments of a filter: first the learners, members or courses that it names, else all users. */
export function enrolledIn({ learnerIds, groupIds, courses, termIds }: RowFilter): Joined {
  if (learnerIds) return byUser
  if (groupIds) return byMember(groupIds)
  if (!courses && !termIds) return byUser
  return courses ? { ...byCourse, on: sql`c.id in (${courses}) and ${byCourse.on}` } : byCourse
}

export interface Rows {
  readonly tables: Joined
  readonly conditions: readonly Condition[]
}

export function rowsOf({ tables, on }: Joined, conditions: readonly Condition[]): Sql {
  return sql`${tables} ${learning} ${where([on, ...conditions])}`
}
