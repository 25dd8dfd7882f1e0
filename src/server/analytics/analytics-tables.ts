import sql, { type Sql } from 'sql-template-tag'
import { isLearners, learns } from '../counters/counted-enrollment.ts'

const asLearner = isLearners('e')
const grades = sql`left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id`
const progress = sql`left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`

// Cross joins keep the order of the tables: what is asked first decides which index finds the rest.

/** Learners' enrolments, user by user. */
export const byUser = sql`users u
  cross join enrollments e on e.user_id = u.id and ${asLearner}
  cross join courses c on c.id = e.course_id ${progress} ${grades}`

/** Learners' enrolments, course by course. */
export const byCourse = sql`courses c
  cross join enrollments e on e.course_id = c.id and ${asLearner}
  cross join users u on u.id = e.user_id ${progress} ${grades}`

/** Learners' enrolments, those of a course by e-mail address. */
export const byEmail = sql`enrollments e
  cross join users u on u.id = e.user_id
  cross join courses c on c.id = e.course_id ${progress} ${grades}`

/** Learners' enrolments in which there is progress, by course and the time of the last access. */
export const byTime = sql`courses c
  cross join progress p on p.course_id = c.id
  cross join enrollments e on e.user_id = p.user_id and e.course_id = p.course_id and e.role = 'learner'
  cross join users u on u.id = e.user_id ${grades}`

/** Learners' enrolments with some statuses, by status. */
export const byStatus = sql`enrollments e
  cross join courses c on c.id = e.course_id
  cross join users u on u.id = e.user_id ${progress} ${grades}`

/** The enrolments of a course's learners that were made last and not removed, at most so many. */
export function lastOf(courseId: string, most: number): Sql {
  return sql`courses c
    cross join (
      select * from enrollments e where e.course_id = ${courseId} and ${learns('e')}
      order by e.created_at desc, e.id desc limit ${most}) e on e.course_id = c.id
    cross join users u on u.id = e.user_id ${progress} ${grades}`
}
