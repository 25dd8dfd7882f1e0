import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import { counting } from '../counters/count.ts'
import { findCourse, toCourse } from '../courses/course-row.ts'
import type { Call } from '../http/handler.ts'
import { findUser } from '../users/user-row.ts'
import { completeEnrollment } from './enrollment-completion.ts'

/** One score of a learner in a course. The item `$course` is the course's grade as a whole. */
export interface Grade {
  /** References, as the API takes them. */
  readonly learnerId: string
  readonly courseId: string
  /** Where it comes from: a kind of platform, or `examples`. */
  readonly source: string
  readonly itemId: string
  readonly label: string
  readonly scoreGiven: number
  /** Above 0. */
  readonly scoreMaximum: number
  /** Its part of the course's grade; all 0 for equal parts. */
  readonly weight: number
  /** ISO 8601 in UTC; an older grade never replaces a newer one. */
  readonly gradedAt: string
}

/** Keeps a score and brings the course's grade up to date. Throws 404 for an unknown learner or course. */
export async function recordGrade(call: Pick<Call, 'database' | 'now'>, grade: Grade): Promise<void> {
  const { database } = call
  const { id: userId } = await findUser(database, grade.learnerId)
  const course = toCourse(await findCourse(database, grade.courseId))
  await counting(call, { userId, courseId: course.id }, () => writeGrade(call, userId, course, grade))
}

async function writeGrade(
  call: Pick<Call, 'database' | 'now'>,
  userId: string,
  course: Course,
  { source, itemId, label, scoreGiven, scoreMaximum, weight, gradedAt }: Grade,
): Promise<void> {
  const { database } = call
  await database.run(sql`
    insert into grades (user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at)
    values (${userId}, ${course.id}, ${source}, ${itemId}, ${label}, ${scoreGiven}, ${scoreMaximum}, ${weight}, ${gradedAt})
    on conflict (user_id, course_id, source, item_id) do update set
      label = excluded.label, score_given = excluded.score_given, score_maximum = excluded.score_maximum,
      weight = excluded.weight, graded_at = excluded.graded_at
    where excluded.graded_at >= grades.graded_at`)
  // The course's own grade where there is one, else the weighted mean of its items, equal parts without weights.
  await database.run(sql`
    insert into course_grades (user_id, course_id, percent, updated_at)
    select user_id, course_id,
      coalesce(
        max(case when item_id = '$course' then 100.0 * score_given / score_maximum end),
        sum(100.0 * score_given / score_maximum * weight) / nullif(sum(weight), 0),
        avg(100.0 * score_given / score_maximum)),
      max(graded_at)
    from grades where user_id = ${userId} and course_id = ${course.id} group by user_id, course_id
    on conflict (user_id, course_id) do update set percent = excluded.percent, updated_at = excluded.updated_at`)
  const attained = await database.one<{ completed_at: string | null; percent: number }>(sql`
    select p.completed_at, g.percent from course_grades g
    left join progress p on p.user_id = g.user_id and p.course_id = g.course_id
    where g.user_id = ${userId} and g.course_id = ${course.id}`)
  await completeEnrollment(call, userId, course, {
    completedAt: attained?.completed_at ?? null,
    grade: attained?.percent ?? null,
  })
}
