import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { courseStatuses, difficulties } from '../../contract/constants.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { terms } from '../../contract/terms.ts'
import { readStandings, type Standings } from '../analytics/summary.ts'
import { isRole } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { type List, type ListColumn, listPage } from './list.tsx'
import { capitalizedChoices, type FilterField, filterIn } from './list-parameters.tsx'
import { type EnrollmentCounts, legend, standingBar } from './standing.tsx'
import { Day, formatCount, formatPercent, recordLink } from './values.tsx'

const path = '/dashboard/courses'

interface CourseRow {
  readonly course: Course
  /** Undefined for users who do not see other learners. */
  readonly standing: (EnrollmentCounts & { readonly averageCompletionPercentage: number | null }) | undefined
  readonly hasUniqueTitle: boolean
}

const nameColumn: ListColumn<CourseRow> = { name: 'Course', cell: nameCell }

/** For staff. */
export const courseList: List<CourseRow> = {
  id: 'courses',
  title: 'Courses',
  caption: 'Courses and the progress of their learners',
  columns: [
    nameColumn,
    { name: 'Learners', look: 'drawn', cell: ({ standing = noEnrollments }) => standingBar(standing) },
    { name: 'Completed', look: 'figures', cell: ({ standing }) => formatCount(standing?.completed ?? 0) },
    { name: 'In progress', look: 'figures', cell: ({ standing }) => formatCount(standing?.inProgress ?? 0) },
    { name: 'Not started', look: 'figures', cell: ({ standing }) => formatCount(standing?.notStarted ?? 0) },
    {
      name: 'Average',
      look: 'figures',
      cell: ({ standing }) => formatPercent(standing?.averageCompletionPercentage ?? null),
    },
  ],
}

const noEnrollments: EnrollmentCounts & { averageCompletionPercentage: null } = {
  enrollments: 0,
  notStarted: 0,
  inProgress: 0,
  completed: 0,
  averageCompletionPercentage: null,
}

const [, ...standingColumns] = courseList.columns
const sortedName = { ...nameColumn, sort: 'title' }
const updated: ListColumn<CourseRow> = {
  name: 'Updated',
  sort: 'updatedAt',
  cell: ({ course }) => <Day time={course.updatedAt} />,
}

const sortedList: List<CourseRow> = {
  ...courseList,
  columns: [sortedName, ...standingColumns, updated],
  sort: 'title',
}

const catalogue: List<CourseRow> = {
  ...courseList,
  caption: 'Courses',
  columns: [sortedName, updated],
  sort: 'title',
}

export const coursesPages = listPage<CourseRow, Course>({
  path,
  title: 'Courses',
  operation: courses.list,
  query: ({ query }) => ({ ...filterIn(query, filterNames), sort: query.get('sort') ?? 'title' }),
  findsExternalIds: true,
  isLong: seesLearners,
  rows: courseRowsOf,
  list: (signedIn) => (seesLearners(signedIn) ? sortedList : catalogue),
  filter: { label: 'Filter courses', fields: filterFields },
  above: (signedIn, { data }) => (data.length > 0 && seesLearners(signedIn) ? legend() : null),
  none: 'No courses yet.',
  noMatch: 'No courses match.',
})

export function seesLearners(signedIn: SignedInRequest): boolean {
  return isRole(signedIn, ...analytics.learners.roles)
}

const filterNames = { q: 'q', status: 'status', difficulty: 'difficulty', term_id: 'term' }

async function filterFields(signedIn: SignedInRequest): Promise<FilterField[]> {
  const term = await termFilter(signedIn)
  return [
    { name: 'q', label: 'Title, description or external ID', type: 'search' },
    ...(seesLearners(signedIn)
      ? [{ name: 'status', label: 'Status', choices: capitalizedChoices(courseStatuses), all: 'Any status' }]
      : []),
    {
      name: 'difficulty',
      label: 'Difficulty',
      choices: capitalizedChoices(difficulties),
      all: 'Any difficulty',
    },
    ...(term ? [term] : []),
  ]
}

/** The latest are offered. */
const maxTerms = 100

/** Undefined in an academy without terms. */
export async function termFilter(signedIn: SignedInRequest): Promise<FilterField | undefined> {
  const { data } = await ask(signedIn, terms.list, {
    query: { sort: '-startDate', limit: String(maxTerms) },
  })
  if (data.length === 0 && !signedIn.query.get('term')) return undefined
  return { name: 'term', label: 'Term', choices: data.map(({ id, name }) => [id, name]), all: 'All terms' }
}

export async function courseRowsOf(
  signedIn: SignedInRequest,
  listed: readonly Course[],
  known?: Standings,
): Promise<CourseRow[]> {
  const ids = listed.map(({ id }) => id)
  const { database, request } = signedIn
  const standings = seesLearners(signedIn)
    ? (known ?? (await readStandings(database, ids, request.now)))
    : undefined
  const titles = Map.groupBy(listed, ({ title }) => title)
  return listed.map((course) => ({
    course,
    standing: standings && (standings.get(course.id) ?? noEnrollments),
    hasUniqueTitle: titles.get(course.title)?.length === 1,
  }))
}

const maxChoices = 100

/** The first courses by title and in any case the chosen one; its label says if there are more. */
export async function courseFilter(signedIn: SignedInRequest): Promise<FilterField> {
  const { data, nextCursor } = await ask(signedIn, courses.list, {
    query: { sort: 'title', limit: String(maxChoices) },
  })
  const chosen = signedIn.query.get('course')
  const other =
    chosen && !data.some(({ id }) => id === chosen)
      ? await ask(signedIn, courses.get, { params: { courseId: chosen } }).catch(noneOfError)
      : undefined
  const shown = other ? [other, ...data] : data
  const titles = Map.groupBy(shown, ({ title }) => title)
  return {
    name: 'course',
    label: nextCursor === null ? 'Course' : `Course (first ${maxChoices} by title; others from their pages)`,
    choices: shown.map(({ id, title, externalId }) => [
      other && id === other.id ? (chosen ?? id) : id,
      titles.get(title)?.length === 1
        ? lineOf(title, 80)
        : `${lineOf(title, 80)} (${lineOf(externalId ?? id, 64)})`,
    ]),
    all: 'All courses',
  }
}

/** The page names the course that is not found. */
function noneOfError(error: unknown): undefined {
  if (error instanceof ProblemError) return undefined
  throw error
}

function nameCell({ course, standing, hasUniqueTitle }: CourseRow, signedIn: SignedInRequest): Child {
  const { title, status, difficulty, externalId, termName } = course
  const name = externalId ?? (hasUniqueTitle ? null : course.id)
  return (
    <>
      {recordLink(signedIn, 'courses', course.id, title)}
      <small>
        {name === null ? null : `${lineOf(name, 64)} · `}
        {difficulty}
        {standing === undefined ? null : ` · ${formatCount(standing.enrollments)} enrolled`}
        {termName === null ? null : ` · ${lineOf(termName, 64)}`}
        {status === 'published' ? null : <span class="state">{status}</span>}
      </small>
    </>
  )
}
