import type { Sql } from 'sql-template-tag'
import { analytics } from '../../contract/analytics.ts'
import { attentionKinds } from '../../contract/constants.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { lessons } from '../../contract/lessons.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { everyLearner, pageOfLearners } from '../analytics/course-learners.ts'
import { type FileRows, gradeRowsOf, learnerRows, streamCsvFile } from '../analytics/export.ts'
import { readRowsPage, rowsOfUser } from '../analytics/row-page.ts'
import { byUser, toRow } from '../analytics/rows.ts'
import { readCourseStanding, readStandings, type Standing } from '../analytics/standing.ts'
import { hasGrades } from '../grades/grade-row.ts'
import { isRole, requireRight } from '../http/handler.ts'
import { attentionWords, CourseAttention } from './attention-tiles.tsx'
import { ask, type SignedInRequest } from './call-api.ts'
import { CompletionChart } from './completion-chart.tsx'
import { courseUrlOf } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage, PageTabs } from './frame.tsx'
import { gradeList } from './grade.tsx'
import { groupsFor, requireGroup } from './group-filter.tsx'
import {
  filterOf,
  type LearnerQuery,
  learnerQueryOf,
  noLearnersText,
  searchOf,
  withoutPage,
} from './learner-query.ts'
import { CourseTable, LearnerSearch, LearnerTable, PartNote } from './learner-table.tsx'
import { nextPage, pageSize } from './paging.tsx'
import { FileLinks, workbookPage } from './table-file.tsx'
import { Figures, formatCount, formatPercent, statusWords } from './values.tsx'

/** Learners for staff, their own progress for learners. */
export const coursePage: DashboardPage = {
  path: '/dashboard/courses/:courseId',
  isLong: (signedIn) => isRole(signedIn, ...analytics.learners.roles),
  async show(signedIn) {
    const course = await ask(signedIn, courses.get)
    const isStaff = isRole(signedIn, ...analytics.learners.roles)
    const content = isStaff ? courseLearners : ownProgress
    return framePage(
      signedIn,
      { title: course.title, section: '/dashboard/courses' },
      <>
        {await courseHeading({ signedIn, course, shown: isStaff ? 'Learners' : 'My progress' })}
        {course.description === '' ? null : <p class="text">{course.description}</p>}
        {await content({ signedIn, course })}
      </>,
    )
  },
}

async function ownProgress({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database, user } = signedIn
  const conditions = rowsOfUser(user.id, { courseId: course.id })
  const { data } = await readRowsPage(database, { limit: 1 }, { tables: byUser, conditions })
  const grades = await gradeList({
    signedIn,
    learnerId: signedIn.user.id,
    courseId: course.id,
    caption: 'My grades in this course, the latest first',
    none: null,
  })
  return (
    <>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">My progress</h2>
        {data.length === 0 ? (
          <p>You are not enrolled in this course.</p>
        ) : (
          <CourseTable caption="My progress in this course" rows={data} />
        )}
      </section>
      {grades ? (
        <section class="card" aria-labelledby="grades">
          <h2 id="grades">My grades</h2>
          {grades}
        </section>
      ) : null}
    </>
  )
}

export async function courseHeading({
  signedIn,
  course,
  shown,
}: {
  signedIn: SignedInRequest
  course: Course
  shown: 'Learners' | 'My progress' | 'Lessons' | 'Grades'
}) {
  const place = courseUrlOf(signedIn, course.id)
  const isStaff = isRole(signedIn, ...analytics.learners.roles)
  const isGraded = shown === 'Grades' || (isStaff && (await hasGrades(signedIn.database, course.id)))
  return (
    <>
      <p class="back">
        <a href={`${signedIn.base}/dashboard/courses`}>Courses</a>
      </p>
      <h1>{course.title}</h1>
      <p class="note">
        {course.difficulty} · {course.status}
        {course.externalId === null ? null : (
          <>
            {' · '}
            <code>{course.externalId}</code>
          </>
        )}
      </p>
      <PageTabs
        label="Course"
        shown={shown}
        tabs={[
          [place, isStaff ? 'Learners' : 'My progress'],
          [`${place}/lessons`, 'Lessons'],
          ...(isGraded ? [[`${place}/grades`, 'Grades'] as const] : []),
          ...(isStaff
            ? [
                [
                  `${signedIn.base}/dashboard/activity?course=${encodeURIComponent(course.id)}`,
                  'Activity',
                ] as const,
              ]
            : []),
        ]}
      />
    </>
  )
}

/** For staff. */
async function courseLearners({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database } = signedIn
  const { now } = signedIn.request
  const query = learnerQueryOf(signedIn)
  await requireGroup(signedIn, query)
  const standing = await readCourseStanding(database, course.id, now)
  if (standing.enrollments === 0) {
    return (
      <section class="card" aria-labelledby="learners">
        <h2 id="learners">Learners</h2>
        <p>No learners enrolled yet.</p>
        {isRole(signedIn, ...courses.update.roles) ? await nextSteps(signedIn, course) : null}
      </section>
    )
  }
  const here = signedIn.base + signedIn.request.path
  const isGraded = standing.averageGradePercent !== null
  const { data, nextCursor, isPart } = await pageOfLearners(database, filterOf(course.id, query), now, {
    limit: pageSize,
    cursor: query.cursor,
    learners: standing.enrollments,
  })
  const isEmpty = data.length === 0 && query.cursor === undefined
  return (
    <>
      <CourseAttention standing={standing} here={here} />
      <Figures
        figures={[
          ['Learners', formatCount(standing.enrollments)],
          ['Average completion', formatPercent(standing.averageCompletionPercentage)],
          ['Median completion', formatPercent(standing.medianCompletionPercentage)],
          ...(isGraded
            ? ([
                ['Average grade', formatPercent(standing.averageGradePercent)],
                ['Pass rate', formatPercent(standing.passRate)],
              ] as const)
            : []),
        ]}
      />
      <CompletionChart standing={standing} />
      <section class="card" aria-labelledby="learners">
        <h2 id="learners">Learners</h2>
        <Filters {...{ here, standing, query, isGraded }} />
        <LearnerSearch here={here} query={query} groups={await groupsFor(signedIn, course, query)} />
        {isPart ? <PartNote /> : null}
        {data.length === 0 ? (
          <p>{noLearnersText(query)}</p>
        ) : (
          <LearnerTable base={signedIn.base} {...{ here, query, isGraded }} rows={data} />
        )}
        {isEmpty ? null : (
          <div class="below">
            {nextPage(signedIn, nextCursor, '#learners')}
            <FileLinks
              signedIn={signedIn}
              path={`${signedIn.request.path}/learners`}
              search={new URLSearchParams(searchOf(withoutPage(query)))}
            />
          </div>
        )}
      </section>
    </>
  )
}

function Filters({
  here,
  standing,
  query,
  isGraded,
}: {
  here: string
  standing: Standing
  query: LearnerQuery
  isGraded: boolean
}) {
  const byStatus = {
    not_started: standing.notStarted,
    in_progress: standing.inProgress,
    completed: standing.completed,
  }
  const choices = [
    { word: 'All', count: standing.enrollments, only: {}, apart: false },
    ...progressStatuses.map((status) => ({
      word: statusWords[status],
      count: byStatus[status],
      only: { status },
      apart: false,
    })),
    ...attentionKinds
      .filter((kind) => kind !== 'not_passed' || isGraded)
      .map((attention, index) => ({
        apart: index === 0,
        word: attentionWords[attention],
        count: standing.attention[attention],
        only: { attention },
      })),
  ]
  const { q, sort } = query
  const chosen = searchOf(withoutPage(query))
  return (
    <nav class="filter" aria-label="Learners by status">
      <ul>
        {choices.map(({ word, count, only, apart }) => {
          const search = searchOf({ ...only, q, sort })
          return (
            <li class={apart ? 'apart' : undefined}>
              <a href={`${here}${search}#learners`} aria-current={search === chosen ? 'true' : undefined}>
                {word} {q ? null : <span>{formatCount(count)}</span>}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** For a course without learners, each with its command. */
async function nextSteps(signedIn: SignedInRequest, course: Course) {
  const { id, status } = course
  const { data } = await ask(signedIn, lessons.list, {
    query: { course_id: id, limit: '1' },
  })
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
      <Commands steps={steps} />
    </>
  )
}

export function Commands({ steps }: { steps: readonly (readonly string[])[] }) {
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
export const courseFile = fileAt('learners', async (signedIn, course) =>
  learnerRows(await learnersStatement(signedIn, course)),
)

export const courseWorkbook = workbookPage({
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
  const learners = (await readStandings(database, [id])).get(id)?.enrollments ?? 0
  return everyLearner(database.dialect, filterOf(id, query), request.now, { learners })
}

export const gradeFile = fileAt('grades', async (_, { id }) => gradeRowsOf(id))

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
