import sql, { type Sql } from 'sql-template-tag'
import { rowsSummary } from '../analytics/analytics-rows.ts'
import type { Reply } from '../http/reply.ts'
import { framed } from './frame.tsx'
import { learnerCourses } from './learner-courses.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { many } from './value-text.tsx'

/** The conditions that leave a learner's own enrolments. */
export function ownRows({ user }: SignedInRequest): Sql[] {
  return [sql`u.id = ${user.id}`, sql`e.status <> 'deleted'`]
}

/** A learner's own courses and progress; of others there is nothing on it. */
export async function ownCourses(signedIn: SignedInRequest): Promise<Reply> {
  const { enrollments: hidden } = await rowsSummary(signedIn.database, [
    ...ownRows(signedIn),
    sql`c.status <> 'published'`,
  ])
  return framed(
    signedIn,
    { title: 'My courses', section: '/dashboard' },
    <>
      <h1>My courses</h1>
      {
        await learnerCourses({
          signedIn,
          // Learners see published courses only.
          conditions: [...ownRows(signedIn), sql`c.status = 'published'`],
          caption: 'My courses and my progress',
          none: 'You are not enrolled in a course yet.',
          note:
            hidden > 0 ? (
              <p class="note">{`${many(hidden, 'more enrolment is in an unpublished course', 'more enrolments are in unpublished courses')}.`}</p>
            ) : null,
        })
      }
    </>,
  )
}
