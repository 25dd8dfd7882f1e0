import sql, { type Sql } from 'sql-template-tag'
import { rowsPage, rowsSummary } from '../analytics/analytics-rows.ts'
import type { Reply } from '../http/reply.ts'
import { Figures } from './figures.tsx'
import { framed } from './frame.tsx'
import { OwnTable } from './learner-table.tsx'
import { nextPage, pageAsked, pageSize } from './paging.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { counted, many, percent } from './value-text.tsx'

/** The conditions that leave a learner's own enrolments. */
export function ownRows({ user }: SignedInRequest): Sql[] {
  return [sql`u.id = ${user.id}`, sql`e.status <> 'deleted'`]
}

/** A learner's own courses and progress; of others there is nothing on it. */
export function ownCourses(signedIn: SignedInRequest): Reply {
  const { database } = signedIn.academy
  const own = ownRows(signedIn)
  // Learners see published courses only.
  const conditions = [...own, sql`c.status = 'published'`]
  const query = { ...pageAsked(signedIn), limit: pageSize, include_total: false }
  const { data, nextCursor } = rowsPage(database, query, conditions)
  const summary = rowsSummary(database, conditions)
  const hidden = rowsSummary(database, own).enrollments - summary.enrollments
  return framed(
    signedIn,
    { title: 'My courses', section: '/dashboard' },
    <>
      <h1>My courses</h1>
      <Figures
        figures={[
          ['Courses', counted(summary.enrollments)],
          ['Completed', counted(summary.completed)],
          ['In progress', counted(summary.inProgress)],
          ['Not started', counted(summary.notStarted)],
          ['Average completion', percent(summary.averageCompletionPercentage)],
          ['Average grade', percent(summary.averageGradePercent)],
        ]}
      />
      <section class="card" aria-labelledby="courses">
        <h2 id="courses">Courses</h2>
        {data.length === 0 ? (
          <p>You are not enrolled in a course yet.</p>
        ) : (
          <>
            <OwnTable
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
        {hidden > 0 ? (
          <p class="note">{`${many(hidden, 'more enrolment is', 'more enrolments are')} in a course that is not published now.`}</p>
        ) : null}
      </section>
    </>,
  )
}
