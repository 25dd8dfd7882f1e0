import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { wholeCourse } from '../../contract/constants.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { type Grade, grades } from '../../contract/grades.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import { figureTiles } from '../../report/elements.tsx'
import { pageOfLearners } from '../analytics/learner-pages.ts'
import { readCourseStanding } from '../analytics/summary.ts'
import { hasGrades, listGradesOfLearners, maxGrades } from '../grades/grade-row.ts'
import { requireRight } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { coursePage } from './course.tsx'
import {
  filterOf,
  gradeColumn,
  learnerList,
  learnerQueryOf,
  learnerSearch,
  requireGroup,
} from './course-learners.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { itemName, scoreOf } from './grade.tsx'
import { type ListColumn, listCard } from './list.tsx'
import { filterLinks, hereWith, itemPageOf, itemPages, pageSize } from './list-parameters.tsx'
import { fileLinks, tableFilePages } from './table-file.tsx'
import { formatCount, formatPercent } from './values.tsx'

/** For staff. */
const page: DashboardPage = {
  path: '/dashboard/courses/:courseId/grades',
  isLong: () => true,
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    const course = await ask(signedIn, courses.get)
    return coursePage(
      signedIn,
      course,
      { title: `Grades of ${course.title}`, shown: 'Grades' },
      ...(await learnersWithGrades(signedIn, course)),
    )
  },
}

const workbook = tableFilePages({
  path: '/dashboard/courses/:courseId/grades',
  formats: ['xlsx'],
  operation: grades.list,
  async read(signedIn, page) {
    requireRight(signedIn.principal, analytics.learners)
    const { id } = await ask(signedIn, courses.get)
    return ask(signedIn, grades.list, { query: { ...page, course_id: id } })
  },
})

export const courseGradesPages = [page, ...workbook]

async function learnersWithGrades(signedIn: SignedInRequest, course: Course): Promise<readonly Child[]> {
  const { database, request } = signedIn
  const query = learnerQueryOf(signedIn)
  await requireGroup(signedIn, query)
  const standing = await readCourseStanding(database, course.id, request.now)
  const listed = await pageOfLearners(database, filterOf(course.id, query), request.now, {
    limit: pageSize,
    cursor: query.cursor,
  })
  const grades = await listGradesOfLearners(
    database,
    course.id,
    listed.data.map(({ learnerId }) => learnerId),
  )
  const items = itemsOf(grades)
  const shown = itemPageOf(signedIn.query.get('items'), maxItemColumns, items.length)
  const isUngraded =
    standing.enrollments > 0 && grades.length === 0 && !(await hasGrades(database, course.id))
  const link = (words: string, count: number, attention?: 'not_passed') => ({
    words,
    href: hereWith(signedIn, { attention }, 'learners'),
    isChosen: query.attention === attention,
    // Counts are those of all learners.
    count: query.q || query.group ? undefined : count,
  })
  const list = learnerList(
    'Grades',
    'Learners of this course and their grades',
    columnsOf(items.slice((shown.at - 1) * maxItemColumns, shown.at * maxItemColumns), grades),
    '/grades',
  )
  return [
    figureTiles([
      ['Learners', formatCount(standing.enrollments)],
      ['Average grade', formatPercent(standing.averageGradePercent)],
      ['Median grade', formatPercent(standing.medianGradePercent)],
      ['Pass rate', formatPercent(standing.passRate)],
      ['Passing score', formatPercent(course.assessmentCriteria.passingScore)],
    ]),
    listCard(signedIn, list, listed, {
      above: (
        <>
          {standing.averageGradePercent === null
            ? null
            : filterLinks('Learners by verdict', [
                link('All', standing.enrollments),
                link('Not passed', standing.attention.not_passed, 'not_passed'),
              ])}
          {await learnerSearch(signedIn, course, query)}
          {isUngraded ? firstGrade(course) : null}
          {grades.length === maxGrades ? (
            <p class="note">These learners have more grades than this page shows. Download all.</p>
          ) : null}
          {itemPages(signedIn, shown, 'learners')}
        </>
      ),
      none: standing.enrollments === 0 ? 'No learners enrolled yet.' : 'No learners match.',
      below: fileLinks(signedIn, request.path, 'all grades', new URLSearchParams()),
    }),
  ]
}

function firstGrade({ id }: Course): Child {
  return (
    <>
      <p>No grades yet. Record one, or connect the system that has them under Integrations.</p>
      <code class="code">{`learnctl grades set email:ada@example.org --course ${id} --item exam-1 --score 85`}</code>
    </>
  )
}

function columnsOf(
  items: readonly GradedItem[],
  grades: readonly Grade[],
): readonly ListColumn<LearnerRow>[] {
  const given = new Map(grades.map((grade) => [`${grade.learnerId} ${keyOf(grade)}`, grade]))
  return [
    ...items.map(
      ({ key, name }): ListColumn<LearnerRow> => ({
        name,
        look: 'score',
        cell: ({ learnerId }, signedIn) => scoreOf(given.get(`${learnerId} ${key}`), signedIn),
      }),
    ),
    { ...gradeColumn, name: 'Course grade' },
  ]
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
