import { rowsOfUser, rowsSummary } from '../analytics/analytics-rows.ts'
import type { Reply } from '../http/reply.ts'
import { framed } from './frame.tsx'
import { learnerCourses } from './learner-courses.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { many } from './value-text.tsx'

/** A learner's own courses and progress; of others there is nothing on it. */
export async function ownCourses(signedIn: SignedInRequest): Promise<Reply> {
  const { database, user } = signedIn
  const { enrollments: hidden } = await rowsSummary(database, rowsOfUser(user.id, { isPublished: false }))
  return framed(
    signedIn,
    { title: 'My courses', section: '/dashboard' },
    <>
      <h1>My courses</h1>
      {
        await learnerCourses({
          signedIn,
          // Learners see published courses only.
          conditions: rowsOfUser(user.id, { isPublished: true }),
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
