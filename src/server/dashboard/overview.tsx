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
import { Commands } from './next-steps.tsx'
import { ownCourses } from './own-courses.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
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
  const placeOf = (courseId: string) => `${signedIn.base}/dashboard/courses/${encodeURIComponent(courseId)}`
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
      <section class="card" aria-labelledby="courses">
        <h2 id="courses">Courses</h2>
        {listed.data.length === 0 ? (
          <NoCourses mayCreate={isRole(signedIn, ...courses.create.roles)} />
        ) : (
          <>
            <Key />
            <Table
              caption="Courses and the progress of their learners"
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
                  <CourseName
                    place={placeOf(course.id)}
                    course={course}
                    enrolled={standing.enrollments}
                    isAlone={titles.get(course.title)?.length === 1}
                  />,
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
  place,
  course,
  enrolled,
  isAlone,
}: {
  place: string
  course: Course
  enrolled: number
  /** False where another course of this page has the same title. */
  isAlone: boolean
}) {
  const { title, status, difficulty, externalId } = course
  const name = externalId ?? (isAlone ? null : course.id)
  return (
    <>
      <a href={place}>{title}</a>
      <small>
        {name === null ? null : `${shown(name, 64)} · `}
        {difficulty} · {counted(enrolled)} enrolled
        {status === 'published' ? null : <span class="state">{status}</span>}
      </small>
    </>
  )
}
