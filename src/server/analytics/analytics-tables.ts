import sql, { type Sql } from 'sql-template-tag'
import { isLearners, learns } from '../counters/counted-enrollment.ts'
import { type Condition, where } from '../database/keyset.ts'

/**
 * Tables of learners' enrolments: `u`, `e`, `c`, `p` and `g`. SQLite looks them up in this order, since a cross join keeps
 * it: what is asked first decides which index finds the rest. PostgreSQL finds an order by itself.
 */
export interface Joined {
  readonly tables: Sql
  /** Which of their rows belong together. */
  readonly on: Sql
}

const asLearner = isLearners('e')
const grades = sql`left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id`
const progress = sql`left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`

/** Learners' enrolments, user by user. */
export const byUser: Joined = {
  tables: sql`users u cross join enrollments e cross join courses c ${progress} ${grades}`,
  on: sql`e.user_id = u.id and ${asLearner} and c.id = e.course_id`,
}

/** Learners' enrolments, course by course. */
export const byCourse: Joined = {
  tables: sql`courses c cross join enrollments e cross join users u ${progress} ${grades}`,
  on: sql`e.course_id = c.id and ${asLearner} and u.id = e.user_id`,
}

/** Learners' enrolments, those of a course by e-mail address. */
export const byEmail: Joined = {
  tables: sql`enrollments e cross join users u cross join courses c ${progress} ${grades}`,
  on: sql`e.role = 'learner' and u.id = e.user_id and c.id = e.course_id`,
}

/** Learners' enrolments in which there is progress, by course and the time of the last access. */
export const byTime: Joined = {
  tables: sql`courses c cross join progress p cross join enrollments e cross join users u ${grades}`,
  on: sql`p.course_id = c.id and e.user_id = p.user_id and e.course_id = p.course_id and e.role = 'learner' and u.id = e.user_id`,
}

/** Learners' enrolments with some statuses, by status. */
export const byStatus: Joined = {
  tables: sql`enrollments e cross join courses c cross join users u ${progress} ${grades}`,
  on: sql`c.id = e.course_id and u.id = e.user_id`,
}

/** The enrolments of a course's learners that were made last and not removed, at most so many. */
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

/** The rows of these tables that meet the conditions: what follows `from`. */
export function rowsOf({ tables, on }: Joined, conditions: readonly Condition[]): Sql {
  return sql`${tables} ${where([on, ...conditions])}`
}
