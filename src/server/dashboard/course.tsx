import type { Child } from 'hono/jsx'
import type { Sql } from 'sql-template-tag'
import { analytics } from '../../contract/analytics.ts'
import { attentionKinds } from '../../contract/constants.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { lessons } from '../../contract/lessons.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { Card, figureTiles } from '../../report/elements.tsx'
import { type FileRows, gradeRowsOf, learnerRows, streamCsvFile } from '../analytics/export.ts'
import { everyLearner, pageOfLearners, readRowsPage, rowsOfUser } from '../analytics/learner-pages.ts'
import { byUser, toRow } from '../analytics/rows.ts'
import { readCourseStanding, type Standing } from '../analytics/summary.ts'
import { hasGrades } from '../grades/grade-row.ts'
import { isRole, requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import {
  courseColumns,
  filterOf,
  type LearnerQuery,
  learnerList,
  learnerQueryOf,
  learnerSearch,
  requireGroup,
  standingColumns,
} from './course-learners.tsx'
import { seesLearners } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage, pageTabs } from './frame.tsx'
import { gradeList } from './grade.tsx'
import { listCard } from './list.tsx'
import { type FilterLink, filterLinks, hereWith, pageSize } from './list-parameters.tsx'
import { attentionWords, completionChart, courseAttention } from './standing.tsx'
import { fileLinks, workbookPage } from './table-file.tsx'
import { formatCount, formatPercent, recordUrl, statusWords } from './values.tsx'

/** Learners for staff, their own progress for learners. */
const page: DashboardPage = {
  path: '/dashboard/courses/:courseId',
  isLong: seesLearners,
  async show(signedIn) {
    const course = await ask(signedIn, courses.get)
    const isStaff = seesLearners(signedIn)
    return coursePage(
      signedIn,
      course,
      { title: course.title, shown: isStaff ? 'Learners' : 'My progress' },
      course.description === '' ? null : <p class="text">{course.description}</p>,
      ...(await (isStaff ? courseLearners : ownProgress)(signedIn, course)),
    )
  },
}

async function ownProgress(signedIn: SignedInRequest, course: Course): Promise<readonly Child[]> {
  const { database, user } = signedIn
  const conditions = rowsOfUser(user.id, { courseId: course.id })
  const { data } = await readRowsPage(database, { limit: 1 }, { tables: byUser, conditions })
  const grades = await gradeList(signedIn, {
    learnerId: user.id,
    courseId: course.id,
    caption: 'My grades in this course, the latest first',
    none: null,
  })
  const caption = 'My progress in this course'
  const list = { id: 'progress', title: 'My progress', caption, columns: courseColumns(data) }
  return [
    listCard(signedIn, list, { data }, { none: 'You are not enrolled in this course.' }),
    grades && (
      <Card id="grades" title="My grades">
        {grades}
      </Card>
    ),
  ]
}

export async function coursePage(
  signedIn: SignedInRequest,
  { id, title: name, difficulty, status, externalId }: Course,
  { title, shown }: { title: string; shown: 'Learners' | 'My progress' | 'Lessons' | 'Grades' },
  ...content: readonly Child[]
): Promise<Reply> {
  const { base } = signedIn
  const place = recordUrl(signedIn, 'courses', id)
  const isStaff = seesLearners(signedIn)
  const isGraded = shown === 'Grades' || (isStaff && (await hasGrades(signedIn.database, id)))
  return framePage(
    signedIn,
    {
      title,
      section: '/dashboard/courses',
      back: [`${base}/dashboard/courses`, 'Courses'],
      heading: name,
    },
    <p class="note">
      {difficulty} · {status}
      {externalId === null ? null : (
        <>
          {' · '}
          <code>{externalId}</code>
        </>
      )}
    </p>,
    pageTabs('Course', shown, [
      [place, isStaff ? 'Learners' : 'My progress'],
      [`${place}/lessons`, 'Lessons'],
      isGraded && [`${place}/grades`, 'Grades'],
      isStaff && [`${base}/dashboard/activity?course=${encodeURIComponent(id)}`, 'Activity'],
    ]),
    ...content,
  )
}

/** For staff. */
async function courseLearners(signedIn: SignedInRequest, course: Course): Promise<readonly Child[]> {
  const { database, base, request } = signedIn
  const query = learnerQueryOf(signedIn)
  await requireGroup(signedIn, query)
  const standing = await readCourseStanding(database, course.id, request.now)
  if (standing.enrollments === 0) {
    return [
      <Card id="learners" title="Learners">
        <p>No learners enrolled yet.</p>
        {isRole(signedIn, ...courses.update.roles) ? await nextSteps(signedIn, course) : null}
      </Card>,
    ]
  }
  const isGraded = standing.averageGradePercent !== null
  const listed = await pageOfLearners(database, filterOf(course.id, query), request.now, {
    limit: pageSize,
    cursor: query.cursor,
  })
  const list = learnerList('Learners', 'Learners of this course', standingColumns(isGraded))
  return [
    courseAttention(standing, base + request.path),
    figureTiles([
      ['Learners', formatCount(standing.enrollments)],
      ['Average completion', formatPercent(standing.averageCompletionPercentage)],
      ['Median completion', formatPercent(standing.medianCompletionPercentage)],
      isGraded && ['Average grade', formatPercent(standing.averageGradePercent)],
      isGraded && ['Pass rate', formatPercent(standing.passRate)],
    ]),
    completionChart(standing),
    listCard(signedIn, list, listed, {
      above: (
        <>
          {filterLinks('Learners by status', statusLinks(signedIn, { standing, query, isGraded }))}
          {await learnerSearch(signedIn, course, query)}
        </>
      ),
      none: 'No learners match.',
      below: listed.data.length === 0 ? null : fileLinks(signedIn, `${request.path}/learners`),
    }),
  ]
}

function statusLinks(
  signedIn: SignedInRequest,
  { standing, query, isGraded }: { standing: Standing; query: LearnerQuery; isGraded: boolean },
): FilterLink[] {
  const link = (words: string, count: number, only: Pick<LearnerQuery, 'status' | 'attention'> = {}) => {
    const { status, attention } = only
    return {
      words,
      href: hereWith(signedIn, { status, attention }, 'learners'),
      isChosen: query.status === status && query.attention === attention,
      // Counts are those of all learners.
      count: query.q || query.group ? undefined : count,
    }
  }
  const byStatus = {
    not_started: standing.notStarted,
    in_progress: standing.inProgress,
    completed: standing.completed,
  }
  return [
    link('All', standing.enrollments),
    ...progressStatuses.map((status) => link(statusWords[status], byStatus[status], { status })),
    ...attentionKinds
      .filter((kind) => kind !== 'not_passed' || isGraded)
      .map((attention, index) => ({
        ...link(attentionWords[attention], standing.attention[attention], { attention }),
        isApart: index === 0,
      })),
  ]
}

async function nextSteps(signedIn: SignedInRequest, course: Course): Promise<Child> {
  const { id, status } = course
  const { data } = await ask(signedIn, lessons.list, { query: { course_id: id, limit: '1' } })
  const steps = [
    data.length === 0 && ['Add a lesson', `learnctl lessons create --course ${id} --title "First lesson"`],
    status !== 'published' && [
      status === 'archived' ? 'Publish it again' : 'Publish the course',
      `learnctl courses publish ${id}`,
    ],
    ['Enrol learners', `learnctl enrollments create --course ${id} --user email:ada@example.org`],
  ].filter((step) => step !== false)
  return (
    <>
      <h3>What to do next</h3>
      {commandSteps(steps)}
    </>
  )
}

export function commandSteps(steps: readonly (readonly string[])[]): Child {
  return (
    <ol class="steps">
      {steps.map(([what, command]) => (
        <li>
          {what}
          <code class="code">{command}</code>
        </li>
      ))}
    </ol>
  )
}

/** With the filter and order of the page. For a course that is too large to sort, all learners that match, unsorted. */
const file = fileAt('learners', async (signedIn, course) =>
  learnerRows(await learnersStatement(signedIn, course)),
)

const workbook = workbookPage({
  path: '/dashboard/courses/:courseId/learners',
  operation: analytics.learners,
  async rows(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    const course = await ask(signedIn, courses.get)
    const statement = await learnersStatement(signedIn, course)
    return { name: `learners_${slugOf(course)}`, batches: learnersOf(signedIn, statement) }
  },
})

async function* learnersOf({ academy }: SignedInRequest, statement: Sql) {
  for await (const rows of academy.database.stream(statement)) yield rows.map(toRow)
}

async function learnersStatement(signedIn: SignedInRequest, { id }: Course): Promise<Sql> {
  const { database, request } = signedIn
  const query = learnerQueryOf(signedIn)
  await requireGroup(signedIn, query)
  return everyLearner(database.dialect, filterOf(id, query), request.now)
}

const gradeFile = fileAt('grades', async (_, { id }) => gradeRowsOf(id))

export const coursePages = [page, file, workbook, gradeFile]

function fileAt(
  what: string,
  rowsOf: (signedIn: SignedInRequest, course: Course) => Promise<FileRows>,
): DashboardPage {
  return {
    path: `/dashboard/courses/:courseId/${what}.csv`,
    isLong: () => true,
    async show(signedIn) {
      requireRight(signedIn.principal, analytics.learners)
      const course = await ask(signedIn, courses.get)
      const rows = await rowsOf(signedIn, course)
      // Files downloaded from a page are opened in spreadsheets.
      const file = { name: `${what}_${slugOf(course)}`, bom: true, raw: false }
      const { headers, chunks } = streamCsvFile(signedIn.database, rows, file)
      return { status: 200, headers: { ...headers, ...signedIn.visitor.headers }, body: chunks }
    },
  }
}

function slugOf({ id, title }: Course): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return slug.slice(0, 60) || id
}
