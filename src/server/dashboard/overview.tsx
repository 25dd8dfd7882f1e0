import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { type Term, terms } from '../../contract/terms.ts'
import { readAcademyStanding, readStandings } from '../analytics/standing.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { termRoutes } from '../courses/terms.ts'
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
  const term = signedIn.query.get('term') || undefined
  const listed = await ask(signedIn, courseReadRoutes, courses.list, {
    query: { ...pageQueryOf(signedIn), sort: 'title', include_total: 'true', term_id: term },
  })
  const whole =
    term === undefined
      ? listed
      : await ask(signedIn, courseReadRoutes, courses.list, { query: { limit: '1', include_total: 'true' } })
  const { data: allTerms } = await ask(signedIn, termRoutes, terms.list, {
    query: { sort: '-startDate', limit: String(maxTerms) },
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
          ['Courses', formatCount(whole.total ?? 0) + (whole.totalIsExact === false ? '+' : '')],
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
        above={
          <>
            <TermFilter signedIn={signedIn} terms={allTerms} chosen={term} />
            {rows.length === 0 ? null : <Legend />}
          </>
        }
        none={
          term === undefined ? (
            <NoCourses mayCreate={isRole(signedIn, ...courses.create.roles)} />
          ) : (
            <p>No courses in this term.</p>
          )
        }
      />
    </>,
  )
}

/** Maximum terms to choose from: the latest. */
const maxTerms = 100

/** A form that limits the list to the courses of a term; nothing in an academy without terms. */
function TermFilter({
  signedIn: { base },
  terms,
  chosen,
}: {
  signedIn: SignedInRequest
  terms: readonly Term[]
  chosen: string | undefined
}) {
  if (terms.length === 0 && chosen === undefined) return null
  const here = `${base}/dashboard`
  const isKnown = (id: string) => terms.some((term) => term.id === id)
  return (
    <search>
      <form method="get" action={`${here}#courses`} class="narrow-down" aria-label="Filter courses">
        <div>
          <label for="term">Term</label>
          <select id="term" name="term">
            <option value="">All terms</option>
            {chosen === undefined || isKnown(chosen) ? null : (
              <option value={chosen} selected>
                {chosen}
              </option>
            )}
            {terms.map(({ id, name }) => (
              <option value={id} selected={id === chosen}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div class="actions">
          <button type="submit" class="quiet">
            Filter
          </button>
          {chosen === undefined ? null : <a href={`${here}#courses`}>Clear</a>}
        </div>
      </form>
    </search>
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
  const { title, status, difficulty, externalId, termName } = course
  const name = externalId ?? (hasUniqueTitle ? null : course.id)
  return (
    <>
      <a href={courseUrlOf(signedIn, course.id)}>{title}</a>
      <small>
        {name === null ? null : `${lineOf(name, 64)} · `}
        {difficulty} · {formatCount(standing.enrollments)} enrolled
        {termName === null ? null : ` · ${lineOf(termName, 64)}`}
        {status === 'published' ? null : <span class="state">{status}</span>}
      </small>
    </>
  )
}
