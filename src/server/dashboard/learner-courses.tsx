import type { Child } from 'hono/jsx'
import { type rowsOfUser, rowsPage, rowsSummary } from '../analytics/analytics-rows.ts'
import { Figures } from './figures.tsx'
import { CourseTable } from './learner-table.tsx'
import { nextPage, pageAsked, pageSize } from './paging.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { counted, percent } from './value-text.tsx'

/** The courses of one learner: figures over all of them, and a page of them. */
export async function learnerCourses({
  signedIn,
  conditions,
  caption,
  none,
  note,
}: {
  signedIn: SignedInRequest
  conditions: ReturnType<typeof rowsOfUser>
  caption: string
  /** What is said where there are none. */
  none: string
  note?: Child
}) {
  const { database } = signedIn
  const query = { ...pageAsked(signedIn), limit: pageSize }
  const { data, nextCursor } = await rowsPage(database, query, { conditions })
  const summary = await rowsSummary(database, conditions)
  return (
    <>
      <Figures
        figures={[
          ['Courses', counted(summary.enrollments)],
          ['Completed', counted(summary.completed)],
          ['In progress', counted(summary.inProgress)],
          ['Not started', counted(summary.notStarted)],
          ['Average completion', percent(summary.averageCompletionPercentage)],
          ...(summary.averageGradePercent === null
            ? []
            : [['Average grade', percent(summary.averageGradePercent)] as const]),
        ]}
      />
      <section class="card" aria-labelledby="courses">
        <h2 id="courses">Courses</h2>
        {data.length === 0 ? (
          <p>{none}</p>
        ) : (
          <>
            <CourseTable
              caption={caption}
              rows={data}
              link={({ courseId, courseTitle }) => (
                <a href={`${signedIn.base}/dashboard/courses/${encodeURIComponent(courseId)}`}>
                  {courseTitle}
                </a>
              )}
            />
            {nextPage(signedIn, nextCursor)}
          </>
        )}
        {note}
      </section>
    </>
  )
}
