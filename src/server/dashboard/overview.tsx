import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { readAcademyStanding, readStandings } from '../analytics/standing.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { AcademyAttention } from './attention-tiles.tsx'
import { ask, type SignedInRequest } from './call-api.ts'
import { CompletionChart, type EnrollmentCounts, Legend, StandingBar } from './completion-chart.tsx'
import { Commands } from './course.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { showOwnCourses } from './learner.tsx'
import { type List, ListCard } from './list.tsx'
import { pageQueryOf } from './paging.tsx'
import { Figures } from './table.tsx'
import { formatCount, formatPercent, lineOf } from './value-text.tsx'

/** The first page: the academy for staff, their own courses for learners. */
export const overview: DashboardPage = {
  path: '/dashboard',
  isLong: seesAllLearners,
  show: (signedIn) => (seesAllLearners(signedIn) ? showAcademy(signedIn) : showOwnCourses(signedIn)),
}

function seesAllLearners(signedIn: SignedInRequest): boolean {
  return isRole(signedIn, ...analytics.learners.roles)
}

/** A course with its enrolments by status. */
interface CourseRow {
  readonly course: Course
  readonly standing: EnrollmentCounts & { readonly averageCompletionPercentage: number | null }
  /** False if another course on this page has the same title. */
  readonly hasUniqueTitle: boolean
}

const courseList: List<CourseRow> = {
  id: 'courses',
  title: 'Courses',
  caption: 'Courses and the progress of their learners',
  columns: [
    { name: 'Course', cell: (row, signedIn) => <CourseName signedIn={signedIn} row={row} /> },
    { name: 'Learners', look: 'drawn', cell: ({ standing }) => <StandingBar {...standing} /> },
    { name: 'Completed', look: 'figures', cell: ({ standing }) => formatCount(standing.completed) },
    { name: 'In progress', look: 'figures', cell: ({ standing }) => formatCount(standing.inProgress) },
    { name: 'Not started', look: 'figures', cell: ({ standing }) => formatCount(standing.notStarted) },
    {
      name: 'Average',
      look: 'figures',
      cell: ({ standing }) => formatPercent(standing.averageCompletionPercentage),
    },
  ],
}

function courseUrlOf({ base }: SignedInRequest, courseId: string): string {
  return `${base}/dashboard/courses/${encodeURIComponent(courseId)}`
}

const noEnrollments: EnrollmentCounts & { averageCompletionPercentage: null } = {
  enrollments: 0,
  notStarted: 0,
  inProgress: 0,
  completed: 0,
  averageCompletionPercentage: null,
}

async function showAcademy(signedIn: SignedInRequest): Promise<Reply> {
  const listed = await ask(signedIn, courseReadRoutes, courses.list, {
    query: { ...pageQueryOf(signedIn), sort: 'title', include_total: 'true' },
  })
  const { database } = signedIn
  const { learners, all, courses: concerned } = await readAcademyStanding(signedIn, signedIn.request.now)
  const standings = await readStandings(
    database,
    listed.data.map(({ id }) => id),
  )
  const titles = Map.groupBy(listed.data, ({ title }) => title)
  const rows = listed.data.map((course) => ({
    course,
    standing: standings.get(course.id) ?? noEnrollments,
    hasUniqueTitle: titles.get(course.title)?.length === 1,
  }))
  const courseUrl = (courseId: string) => courseUrlOf(signedIn, courseId)
  return framePage(
    signedIn,
    { title: 'Overview', section: '/dashboard' },
    <>
      <h1>Overview</h1>
      {all.enrollments > 0 ? (
        <AcademyAttention standing={all} courses={concerned} courseUrl={courseUrl} />
      ) : null}
      <Figures
        figures={[
          ['Courses', formatCount(listed.total ?? 0) + (listed.totalIsExact === false ? '+' : '')],
          ...(learners === null ? [] : [['Learners enrolled', formatCount(learners)] as const]),
          ['Enrolments', formatCount(all.enrollments)],
          ['Completed', formatCount(all.completed)],
          ['Average completion', formatPercent(all.averageCompletionPercentage)],
          ...(all.averageGradePercent === null
            ? []
            : [['Average grade', formatPercent(all.averageGradePercent)] as const]),
        ]}
      />
      {all.enrollments > 0 ? <CompletionChart standing={all} /> : null}
      <ListCard
        signedIn={signedIn}
        list={courseList}
        listed={{ data: rows, nextCursor: listed.nextCursor }}
        above={rows.length === 0 ? null : <Legend />}
        none={<NoCourses mayCreate={isRole(signedIn, ...courses.create.roles)} />}
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

function CourseName({
  signedIn,
  row: { course, standing, hasUniqueTitle },
}: {
  signedIn: SignedInRequest
  row: CourseRow
}) {
  const { title, status, difficulty, externalId } = course
  const name = externalId ?? (hasUniqueTitle ? null : course.id)
  return (
    <>
      <a href={courseUrlOf(signedIn, course.id)}>{title}</a>
      <small>
        {name === null ? null : `${lineOf(name, 64)} · `}
        {difficulty} · {formatCount(standing.enrollments)} enrolled
        {status === 'published' ? null : <span class="state">{status}</span>}
      </small>
    </>
  )
}
