import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { analyticsRoutes } from '../analytics/analytics.ts'
import { courseRoutes } from '../courses/courses.ts'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { Distribution, Hatching, Key, type Standing, StandingBar } from './completion-chart.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Figures } from './figures.tsx'
import { framed } from './frame.tsx'
import { ownCourses } from './own-courses.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { counted, percent } from './value-text.tsx'

/** What there is at a glance: an academy for those who work for it, their own courses for learners. */
export const overview: DashboardPage = {
  path: '/dashboard',
  show: (signedIn) =>
    isRole(signedIn, ...analytics.learners.roles) ? wholeAcademy(signedIn) : ownCourses(signedIn),
}

const nobody: Standing & { averageCompletionPercentage: null; averageGradePercent: null } = {
  enrollments: 0,
  notStarted: 0,
  inProgress: 0,
  completed: 0,
  averageCompletionPercentage: null,
  averageGradePercent: null,
}

function wholeAcademy(signedIn: SignedInRequest): Reply {
  const listed = ask(signedIn, courseRoutes, courses.list, {
    query: { ...pageAsked(signedIn), sort: 'title', include_total: 'true' },
  })
  const { summary } = ask(signedIn, analyticsRoutes, analytics.learners, { query: { limit: '1' } })
  if (!summary) throw new TypeError('the first page of analytics has a summary')
  const standings = new Map(summary.byCourse.map((standing) => [standing.courseId, standing]))
  return framed(
    signedIn,
    { title: 'Overview', section: '/dashboard' },
    <>
      <h1>Overview</h1>
      <Figures
        figures={[
          ['Courses', counted(listed.total ?? 0)],
          ['Learners enrolled', counted(summary.learners)],
          ['Enrolments', counted(summary.enrollments)],
          ['Completed', counted(summary.completed)],
          ['Average completion', percent(summary.averageCompletionPercentage)],
          ['Average grade', percent(summary.averageGradePercent)],
        ]}
      />
      {summary.enrollments > 0 ? <Distribution {...summary} /> : null}
      <section class="card" aria-labelledby="courses">
        <h2 id="courses">Courses</h2>
        {listed.data.length === 0 ? (
          <p>
            No course is here yet. Make one with{' '}
            <code>learnctl courses create --title "My first course"</code>.
          </p>
        ) : (
          <>
            <Hatching />
            <Key />
            <Table
              caption="Courses, and how far their learners are"
              columns={[
                { name: 'Course' },
                { name: 'Learners', look: 'drawn' },
                { name: 'Completed', look: 'figures' },
                { name: 'In progress', look: 'figures' },
                { name: 'Not started', look: 'figures' },
                { name: 'Average', look: 'figures' },
              ]}
              rows={listed.data.map((course) => {
                const standing = standings.get(course.id) ?? nobody
                return [
                  <CourseName base={signedIn.base} course={course} enrolled={standing.enrollments} />,
                  <StandingBar {...standing} />,
                  counted(standing.completed),
                  counted(standing.inProgress),
                  counted(standing.notStarted),
                  percent(standing.averageCompletionPercentage),
                ]
              })}
            />
            {nextPage(signedIn, listed.nextCursor)}
          </>
        )}
      </section>
    </>,
  )
}

function CourseName({ base, course, enrolled }: { base: string; course: Course; enrolled: number }) {
  const { id, title, status, difficulty } = course
  return (
    <>
      <a href={`${base}/dashboard/courses/${encodeURIComponent(id)}`}>{title}</a>
      <small>
        {difficulty} · {counted(enrolled)} enrolled
        {status === 'published' ? null : <span class="state">{status}</span>}
      </small>
    </>
  )
}
