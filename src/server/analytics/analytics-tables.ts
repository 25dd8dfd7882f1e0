import sql, { type Sql } from 'sql-template-tag'
import { isLearners, learns } from '../counters/counted-enrollment.ts'
import { type Condition, where } from '../database/keyset.ts'

/**
 * Joins of learners' enrolments: `u`, `e`, `c`, `p` and `g`. SQLite keeps the order of a cross join, so the first
 * table decides which index is used. PostgreSQL chooses an order itself.
 */
export interface Joined {
  readonly tables: Sql
  /** The join condition. */
  readonly on: Sql
}

const asLearner = isLearners('e')
const grades = sql`left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id`
const progress = sql`left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`

/** Enrolments ordered by user. */
export const byUser: Joined = {
  tables: sql`users u cross join enrollments e cross join courses c ${progress} ${grades}`,
  on: sql`e.user_id = u.id and ${asLearner} and c.id = e.course_id`,
}

/** Enrolments ordered by course. */
export const byCourse: Joined = {
  tables: sql`courses c cross join enrollments e cross join users u ${progress} ${grades}`,
  on: sql`e.course_id = c.id and ${asLearner} and u.id = e.user_id`,
}

/** Enrolments ordered by course and email address. */
export const byEmail: Joined = {
  tables: sql`enrollments e cross join users u cross join courses c ${progress} ${grades}`,
  on: sql`e.role = 'learner' and u.id = e.user_id and c.id = e.course_id`,
}

/** Enrolments with progress, ordered by course and time of the last access. */
export const byTime: Joined = {
  tables: sql`courses c cross join progress p cross join enrollments e cross join users u ${grades}`,
  on: sql`p.course_id = c.id and e.user_id = p.user_id and e.course_id = p.course_id and e.role = 'learner' and u.id = e.user_id`,
}

/** Enrolments ordered by status. */
export const byStatus: Joined = {
  tables: sql`enrollments e cross join courses c cross join users u ${progress} ${grades}`,
  on: sql`c.id = e.course_id and u.id = e.user_id`,
}

/** Returns the newest enrolments of a course that are not removed, up to this number. */
export function lastOf(courseId: string, most: number): Joined {
  return {
    tables: sql`courses c
      cross join (
        select * from enrollments e where e.course_id = ${courseId} and ${learns('e')}
        order by e.created_at desc, e.id desc limit ${most}) e
      cross join users u ${progress} ${grades}`,
    on: sql`e.course_id = c.id and u.id = e.user_id`,
  }
}

/** Returns the rest of a statement after `from`, for rows that meet the conditions. */
export function rowsOf({ tables, on }: Joined, conditions: readonly Condition[]): Sql {
  return sql`${tables} ${where([on, ...conditions])}`
}
