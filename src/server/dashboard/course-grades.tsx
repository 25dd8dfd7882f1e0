import * as z from 'zod'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { type Grade, grades } from '../../contract/grades.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import { Card, Figures, Table } from '../../report/elements.tsx'
import { pageOfLearners } from '../analytics/course-learners.ts'
import { readCourseStanding, type Standing } from '../analytics/standing.ts'
import { hasGrades, listGradesOfLearners, maxGrades } from '../grades/grade-row.ts'
import { requireRight } from '../http/handler.ts'
import { parseQuery } from '../http/validation.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { courseHeading } from './course.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { itemName, Score } from './grade.tsx'
import { requireGroup } from './group-filter.tsx'
import {
  filterOf,
  type LearnerQuery,
  learnerQueryOf,
  noLearnersText,
  searchOf,
  withoutPage,
} from './learner-query.ts'
import { gradeOf, LearnerName, learnerSearch, sortingOf } from './learner-table.tsx'
import { type FilterLink, FilterLinks } from './list.tsx'
import { nextPage, pageSize } from './paging.tsx'
import { FileLinks, type TableFile, tableFilePages } from './table-file.tsx'
import { formatCount, formatPercent } from './values.tsx'

const Items = z.strictObject({ items: z.coerce.number().int().min(1).max(10_000).default(1) })

/** For staff. */
const page: DashboardPage = {
  path: '/dashboard/courses/:courseId/grades',
  isLong: () => true,
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    const course = await ask(signedIn, courses.get)
    return framePage(
      signedIn,
      { title: `Grades of ${course.title}`, section: '/dashboard/courses' },
      <>
        {await courseHeading({ signedIn, course, shown: 'Grades' })}
        {await learnersWithGrades({ signedIn, course })}
      </>,
    )
  },
}

const workbook: TableFile = {
  path: '/dashboard/courses/:courseId/grades',
  formats: ['xlsx'],
  operation: grades.list,
  async read(signedIn, page) {
    requireRight(signedIn.principal, analytics.learners)
    const { id } = await ask(signedIn, courses.get)
    return ask(signedIn, grades.list, { query: { ...page, course_id: id } })
  },
}

export const courseGradesPages = [page, ...tableFilePages(workbook)]

async function learnersWithGrades({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database, request, base } = signedIn
  const query = learnerQueryOf(signedIn)
  await requireGroup(signedIn, query)
  const given = [...signedIn.query].filter(([name]) => name === 'items')
  const { items } = parseQuery(Items, `${new URLSearchParams(given)}`)
  const standing = await readCourseStanding(database, course.id, request.now)
  const { data, nextCursor } = await pageOfLearners(database, filterOf(course.id, query), request.now, {
    limit: pageSize,
    cursor: query.cursor,
  })
  const grades = await listGradesOfLearners(
    database,
    course.id,
    data.map(({ learnerId }) => learnerId),
  )
  const here = base + request.path
  const isUngraded =
    standing.enrollments > 0 && grades.length === 0 && !(await hasGrades(database, course.id))
  return (
    <>
      <Figures
        figures={[
          ['Learners', formatCount(standing.enrollments)],
          ['Average grade', formatPercent(standing.averageGradePercent)],
          ['Median grade', formatPercent(standing.medianGradePercent)],
          ['Pass rate', formatPercent(standing.passRate)],
          ['Passing score', formatPercent(course.assessmentCriteria.passingScore)],
        ]}
      />
      <Card id="learners" title="Grades">
        {standing.averageGradePercent === null ? null : (
          <FilterLinks label="Learners by verdict" links={verdictLinks({ here, standing, query, items })} />
        )}
        {await learnerSearch(signedIn, course, query)}
        {isUngraded ? <FirstGrade course={course} /> : null}
        {grades.length === maxGrades ? (
          <p class="note">These learners have more grades than this page shows. Download all.</p>
        ) : null}
        {data.length === 0 ? (
          <p>{standing.enrollments === 0 ? 'No learners enrolled yet.' : noLearnersText(query)}</p>
        ) : (
          <GradeMatrix at={items} rows={data} {...{ signedIn, here, query, grades }} />
        )}
        <div class="below">
          {nextPage(signedIn, nextCursor, '#learners')}
          <FileLinks signedIn={signedIn} path={request.path} search={new URLSearchParams()} of="all grades" />
        </div>
      </Card>
    </>
  )
}

function verdictLinks({
  here,
  standing,
  query,
  items,
}: {
  here: string
  standing: Standing
  query: LearnerQuery
  items: number
}): FilterLink[] {
  const link = (words: string, count: number, attention?: 'not_passed') => ({
    words,
    href: `${here}${itemSearch({ ...withoutPage(query), attention }, items)}#learners`,
    isChosen: query.attention === attention,
    // Counts are those without a search.
    count: query.q ? undefined : count,
  })
  return [link('All', standing.enrollments), link('Not passed', standing.attention.not_passed, 'not_passed')]
}

function FirstGrade({ course }: { course: Course }) {
  return (
    <>
      <p>No grades yet. Record one, or connect the system that has them under Integrations.</p>
      <code class="code">{`learnctl grades set email:ada@example.org --course ${course.id} --item exam-1 --score 85`}</code>
    </>
  )
}

/** One column per item; links to the other items if there are too many. */
function GradeMatrix({
  signedIn,
  here,
  query,
  at,
  rows,
  grades,
}: {
  signedIn: SignedInRequest
  here: string
  query: LearnerQuery
  /** From 1. */
  at: number
  rows: readonly LearnerRow[]
  grades: readonly Grade[]
}) {
  const items = itemsOf(grades)
  const last = Math.max(1, Math.ceil(items.length / maxItemColumns))
  const from = (Math.min(at, last) - 1) * maxItemColumns
  const columns = items.slice(from, from + maxItemColumns)
  const ofLearner = Map.groupBy(grades, ({ learnerId }) => learnerId)
  const hrefOf = (page: number) => `${here}${itemSearch(query, page)}#learners`
  return (
    <>
      {last === 1 ? null : (
        <nav class="pages items" aria-label="Items">
          <span>{`Items ${formatCount(from + 1)}–${formatCount(from + columns.length)} of ${formatCount(items.length)}`}</span>
          {from > 0 ? <a href={hrefOf(Math.min(at, last) - 1)}>Previous items</a> : null}
          {from + maxItemColumns < items.length ? (
            <a href={hrefOf(Math.min(at, last) + 1)}>Next items</a>
          ) : null}
        </nav>
      )}
      <Table
        caption="Learners of this course and their grades"
        columns={[
          { name: 'Learner', sorting: sortingOf(here, query, 'name') },
          ...columns.map(({ name }) => ({ name, look: 'score' as const })),
          { name: 'Course grade', look: 'figures', sorting: sortingOf(here, query, 'grade') },
        ]}
        rows={rows.map((row) => {
          const given = new Map(ofLearner.get(row.learnerId)?.map((grade) => [keyOf(grade), grade]))
          return [
            <LearnerName signedIn={signedIn} row={row} page="/grades" />,
            ...columns.map(({ key }) => <Score grade={given.get(key)} signedIn={signedIn} />),
            gradeOf(row),
          ]
        })}
      />
    </>
  )
}

function itemSearch(query: Partial<LearnerQuery>, at: number): string {
  const search = searchOf(query)
  if (at === 1) return search
  return `${search}${search === '' ? '?' : '&'}items=${at}`
}

const maxItemColumns = 8

interface GradedItem {
  readonly key: string
  readonly name: string
}

const names = new Intl.Collator('en', { numeric: true })

/** By name, the whole course last; duplicate names get source and id. */
function itemsOf(grades: readonly Grade[]): GradedItem[] {
  const latest = new Map<string, Grade>()
  for (const grade of grades) {
    const known = latest.get(keyOf(grade))
    if (!known || known.gradedAt < grade.gradedAt) latest.set(keyOf(grade), grade)
  }
  const items = [...latest].map(([key, grade]) => ({ key, grade, name: itemName(grade) }))
  const isTwice = (name: string) => items.filter((other) => other.name === name).length > 1
  return items
    .map(({ key, grade, name }) => ({
      key,
      place: grade.itemId === wholeCourse ? 1 : 0,
      name: isTwice(name) ? `${name} (${lineOf(`${grade.source}, ${grade.itemId}`, 40)})` : name,
    }))
    .sort((one, other) => one.place - other.place || names.compare(one.name, other.name))
}

function keyOf({ source, itemId }: Grade): string {
  return JSON.stringify([source, itemId])
}
