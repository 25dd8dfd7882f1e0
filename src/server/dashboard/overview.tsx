import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { standingOfAcademy, standingsOf } from '../analytics/standing.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { AcademyAttention } from './attention-tiles.tsx'
import { CompletionChart, Key, type Parts, StandingBar } from './completion-chart.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Figures } from './figures.tsx'
import { framed } from './frame.tsx'
import { type List, ListCard } from './list.tsx'
import { Commands } from './next-steps.tsx'
import { ownCourses } from './own-courses.tsx'
import { pageAsked } from './paging.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { counted, percent, shown } from './value-text.tsx'

/** What there is at a glance: an academy for those who work for it, their own courses for learners. */
export const overview: DashboardPage = {
  path: '/dashboard',
  isLong: seesEverybody,
  show: (signedIn) => (seesEverybody(signedIn) ? wholeAcademy(signedIn) : ownCourses(signedIn)),
}

function seesEverybody(signedIn: SignedInRequest): boolean {
  return isRole(signedIn, ...analytics.learners.roles)
}

/** A course, and how many of its learners are where. */
interface CourseRow {
  readonly course: Course
  readonly standing: Parts & { readonly averageCompletionPercentage: number | null }
  /** False where another course of this page has the same title. */
  readonly isAlone: boolean
}

const courseList: List<CourseRow> = {
  id: 'courses',
  title: 'Courses',
  caption: 'Courses and the progress of their learners',
  columns: [
    { name: 'Course', cell: (row, signedIn) => <CourseName signedIn={signedIn} row={row} /> },
    { name: 'Learners', look: 'drawn', cell: ({ standing }) => <StandingBar {...standing} /> },
    { name: 'Completed', look: 'figures', cell: ({ standing }) => counted(standing.completed) },
    { name: 'In progress', look: 'figures', cell: ({ standing }) => counted(standing.inProgress) },
    { name: 'Not started', look: 'figures', cell: ({ standing }) => counted(standing.notStarted) },
    {
      name: 'Average',
      look: 'figures',
      cell: ({ standing }) => percent(standing.averageCompletionPercentage),
    },
  ],
}

function placeOfCourse({ base }: SignedInRequest, courseId: string): string {
  return `${base}/dashboard/courses/${encodeURIComponent(courseId)}`
}

const nobody: Parts & { averageCompletionPercentage: null } = {
  enrollments: 0,
  notStarted: 0,
  inProgress: 0,
  completed: 0,
  averageCompletionPercentage: null,
}

async function wholeAcademy(signedIn: SignedInRequest): Promise<Reply> {
  const listed = await ask(signedIn, courseReadRoutes, courses.list, {
    query: { ...pageAsked(signedIn), sort: 'title', include_total: 'true' },
  })
  const { database } = signedIn
  const { learners, all, courses: concerned } = await standingOfAcademy(database, signedIn.request.now)
  const standings = await standingsOf(
    database,
    listed.data.map(({ id }) => id),
  )
  const titles = Map.groupBy(listed.data, ({ title }) => title)
  const rows = listed.data.map((course) => ({
    course,
    standing: standings.get(course.id) ?? nobody,
    isAlone: titles.get(course.title)?.length === 1,
  }))
  const placeOf = (courseId: string) => placeOfCourse(signedIn, courseId)
  return framed(
    signedIn,
    { title: 'Overview', section: '/dashboard' },
    <>
      <h1>Overview</h1>
      {all.enrollments > 0 ? <AcademyAttention standing={all} courses={concerned} placeOf={placeOf} /> : null}
      <Figures
        figures={[
          ['Courses', counted(listed.total ?? 0) + (listed.totalIsExact === false ? '+' : '')],
          ['Learners enrolled', counted(learners)],
          ['Enrolments', counted(all.enrollments)],
          ['Completed', counted(all.completed)],
          ['Average completion', percent(all.averageCompletionPercentage)],
          ...(all.averageGradePercent === null
            ? []
            : [['Average grade', percent(all.averageGradePercent)] as const]),
        ]}
      />
      {all.enrollments > 0 ? <CompletionChart standing={all} /> : null}
      <ListCard
        signedIn={signedIn}
        list={courseList}
        listed={{ data: rows, nextCursor: listed.nextCursor }}
        above={rows.length === 0 ? null : <Key />}
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
  row: { course, standing, isAlone },
}: {
  signedIn: SignedInRequest
  row: CourseRow
}) {
  const { title, status, difficulty, externalId } = course
  const name = externalId ?? (isAlone ? null : course.id)
  return (
    <>
      <a href={placeOfCourse(signedIn, course.id)}>{title}</a>
      <small>
        {name === null ? null : `${shown(name, 64)} · `}
        {difficulty} · {counted(standing.enrollments)} enrolled
        {status === 'published' ? null : <span class="state">{status}</span>}
      </small>
    </>
  )
}
