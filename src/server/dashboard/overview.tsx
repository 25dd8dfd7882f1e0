import type { Child } from 'hono/jsx'
import { courses } from '../../contract/courses.ts'
import { figureTiles } from '../../report/elements.tsx'
import { readAcademyStanding } from '../analytics/summary.ts'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { commandSteps } from './course.tsx'
import { courseList, courseRowsOf, seesLearners, termFilter } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { listCard } from './list.tsx'
import { filterForm, pageQueryOf } from './list-parameters.tsx'
import { showOwnCourses } from './people.tsx'
import { academyAttention, completionChart, legend } from './standing.tsx'
import { formatCount, formatPercent, recordUrl } from './values.tsx'

/** The academy for staff, their own courses for learners. */
export const overview: DashboardPage = {
  path: '/dashboard',
  isLong: seesLearners,
  show: (signedIn) => (seesLearners(signedIn) ? showAcademy(signedIn) : showOwnCourses(signedIn)),
}

async function showAcademy(signedIn: SignedInRequest): Promise<Reply> {
  const term = signedIn.query.get('term') || undefined
  const listed = await ask(signedIn, courses.list, {
    query: { ...pageQueryOf(signedIn), sort: 'title', include_total: 'true', term_id: term },
  })
  const whole =
    term === undefined
      ? listed
      : await ask(signedIn, courses.list, { query: { limit: '1', include_total: 'true' } })
  const standing = await readAcademyStanding(signedIn, signedIn.request.now)
  const { learners, all, byCourse } = standing
  const rows = await courseRowsOf(signedIn, listed.data, byCourse)
  const terms = await termFilter(signedIn)
  const courseUrl = (courseId: string) => recordUrl(signedIn, 'courses', courseId)
  const isGraded = all.averageGradePercent !== null
  const isEmpty = all.enrollments === 0
  return framePage(
    signedIn,
    { title: 'Overview', section: '/dashboard' },
    isEmpty ? null : academyAttention(all, standing.courses, courseUrl),
    figureTiles([
      ['Courses', formatCount(whole.total ?? 0) + (whole.totalIsExact === false ? '+' : '')],
      learners !== null && ['Learners enrolled', formatCount(learners)],
      ['Enrolments', formatCount(all.enrollments)],
      ['Completed', formatCount(all.completed)],
      ['Average completion', formatPercent(all.averageCompletionPercentage)],
      isGraded && ['Average grade', formatPercent(all.averageGradePercent)],
      isGraded && ['Pass rate', formatPercent(all.passRate)],
    ]),
    isEmpty ? null : completionChart(all),
    listCard(
      signedIn,
      courseList,
      { data: rows, nextCursor: listed.nextCursor },
      {
        above: (
          <>
            <p>
              <a href={`${signedIn.base}/dashboard/courses`}>Search, filter and download courses</a>
            </p>
            {terms && filterForm(signedIn, 'Filter courses', [terms], 'courses')}
            {rows.length === 0 ? null : legend()}
          </>
        ),
        none: term === undefined ? noCourses(signedIn) : 'No courses in this term.',
      },
    ),
  )
}

function noCourses(signedIn: SignedInRequest): Child {
  const steps = [['Create a course', 'learnctl courses create --title "My first course"']]
  return (
    <>
      <p>No courses yet.</p>
      {isRole(signedIn, ...courses.create.roles) ? commandSteps(steps) : null}
    </>
  )
}
