import { analytics } from '../../contract/analytics.ts'
import { courses } from '../../contract/courses.ts'
import { Figures } from '../../report/elements.tsx'
import { readAcademyStanding } from '../analytics/standing.ts'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { AcademyAttention } from './attention-tiles.tsx'
import { ask, type SignedInRequest } from './call-api.ts'
import { CompletionChart, Legend } from './completion-chart.tsx'
import { Commands } from './course.tsx'
import { courseList, courseRowsOf, termFilter } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { FilterForm } from './filter-form.tsx'
import { framePage } from './frame.tsx'
import { showOwnCourses } from './learner.tsx'
import { ListCard } from './list.tsx'
import { pageQueryOf } from './paging.tsx'
import { formatCount, formatPercent, recordUrl } from './values.tsx'

/** The academy for staff, their own courses for learners. */
export const overview: DashboardPage = {
  path: '/dashboard',
  isLong: seesAllLearners,
  show: (signedIn) => (seesAllLearners(signedIn) ? showAcademy(signedIn) : showOwnCourses(signedIn)),
}

function seesAllLearners(signedIn: SignedInRequest): boolean {
  return isRole(signedIn, ...analytics.learners.roles)
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
  return framePage(
    signedIn,
    { title: 'Overview', section: '/dashboard' },
    <>
      <h1>Overview</h1>
      {all.enrollments > 0 ? (
        <AcademyAttention standing={all} courses={standing.courses} courseUrl={courseUrl} />
      ) : null}
      <Figures
        figures={[
          ['Courses', formatCount(whole.total ?? 0) + (whole.totalIsExact === false ? '+' : '')],
          learners !== null && ['Learners enrolled', formatCount(learners)],
          ['Enrolments', formatCount(all.enrollments)],
          ['Completed', formatCount(all.completed)],
          ['Average completion', formatPercent(all.averageCompletionPercentage)],
          isGraded && ['Average grade', formatPercent(all.averageGradePercent)],
          isGraded && ['Pass rate', formatPercent(all.passRate)],
        ]}
      />
      {all.enrollments > 0 ? <CompletionChart standing={all} /> : null}
      <ListCard
        signedIn={signedIn}
        list={courseList}
        listed={{ data: rows, nextCursor: listed.nextCursor }}
        above={
          <>
            <p>
              <a href={`${signedIn.base}/dashboard/courses`}>Search, filter and download courses</a>
            </p>
            {terms === undefined ? null : (
              <FilterForm signedIn={signedIn} label="Filter courses" fields={[terms]} anchor="courses" />
            )}
            {rows.length === 0 ? null : <Legend />}
          </>
        }
        none={
          term === undefined ? (
            <NoCourses mayCreate={isRole(signedIn, ...courses.create.roles)} />
          ) : (
            'No courses in this term.'
          )
        }
      />
    </>,
  )
}

function NoCourses({ mayCreate }: { mayCreate: boolean }) {
  const steps = [['Create a course', 'learnctl courses create --title "My first course"']]
  return (
    <>
      <p>No courses yet.</p>
      {mayCreate ? <Commands steps={steps} /> : null}
    </>
  )
}
