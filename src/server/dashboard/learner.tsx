import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { grades } from '../../contract/grades.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import { type ProgressStep, progress } from '../../contract/progress.ts'
import { type User, users } from '../../contract/users.ts'
import { Card, Figures } from '../../report/elements.tsx'
import { visibleRecords } from '../access/sight.ts'
import { readRowsPage, rowsOfUser } from '../analytics/row-page.ts'
import { byUser } from '../analytics/rows.ts'
import { summariseRows } from '../analytics/summary.ts'
import { isGraded } from '../grades/grade-row.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { CalendarLink } from './calendars.tsx'
import { ask, type SignedInRequest } from './call-api.ts'
import { Completion } from './completion-chart.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { FilterForm } from './filter-form.tsx'
import { Back, framePage, PageTabs } from './frame.tsx'
import { gradeList } from './grade.tsx'
import { courseColumns } from './learner-table.tsx'
import { type List, ListCard, listedOrFault } from './list.tsx'
import { type PageQuery, pageQueryOf, pageSize } from './paging.tsx'
import { personName } from './people.tsx'
import { FileLinks, type TableFile, tableFilePages } from './table-file.tsx'
import { countOf, Day, formatCount, formatPercent, Minute, recordUrl, statusWords } from './values.tsx'

/** For staff. */
const coursesPage: DashboardPage = {
  path: '/dashboard/learners/:userId',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    return framePage(
      signedIn,
      { title: name, section: '/dashboard/people' },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'Courses' })}
        {
          await learnerCourses({
            signedIn,
            conditions: [...rowsOfUser(user.id), visibleRecords(signedIn, 'e')],
            caption: `Courses of ${name}`,
            none: 'Not enrolled in a course yet.',
            note: (
              <>
                <LearnerFiles {...{ signedIn, user }} of="courses" />
                <CalendarLink signedIn={signedIn} of={{ user: user.id }} />
              </>
            ),
          })
        }
      </>,
    )
  },
}

/** For staff. */
const gradesPage: DashboardPage = {
  path: '/dashboard/learners/:userId/grades',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    return framePage(
      signedIn,
      { title: `Grades of ${name}`, section: '/dashboard/people' },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'Grades' })}
        <Card id="grades" title="Grades">
          {
            await gradeList({
              signedIn,
              learnerId: user.id,
              caption: `Grades of ${name}, the latest first`,
              none: <p>No grades yet.</p>,
            })
          }
          <LearnerFiles {...{ signedIn, user }} of="grades" />
        </Card>
      </>,
    )
  },
}

/** For staff: in all courses, or the newest first in one. */
const historyPage: DashboardPage = {
  path: '/dashboard/learners/:userId/history',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    const conditions = [...rowsOfUser(user.id), visibleRecords(signedIn, 'e')]
    const { data: taken } = await readRowsPage(
      signedIn.database,
      { limit: maxCourseChoices },
      { tables: byUser, conditions },
    )
    const listed = await listedOrFault<ProgressStep>(() => historyOf(signedIn, user, pageQueryOf(signedIn)))
    return framePage(
      signedIn,
      { title: `History of ${name}`, section: '/dashboard/people', fault: listed.fault },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'History' })}
        <ListCard
          signedIn={signedIn}
          list={{ ...historyList, caption: `Progress of ${name}` }}
          listed={listed}
          above={
            <FilterForm
              signedIn={signedIn}
              label="Filter progress"
              fields={[
                {
                  name: 'course',
                  label: 'Course',
                  choices: taken.map((row) => [row.courseId, courseNameOf(row)]),
                  all: 'All courses',
                },
              ]}
              anchor="history"
            />
          }
          none="No progress recorded yet."
          below={listed.data.length === 0 ? null : <LearnerFiles {...{ signedIn, user }} of="history" />}
        />
      </>,
    )
  },
}

const maxCourseChoices = 100

const historyFile: TableFile = {
  path: '/dashboard/learners/:userId/history',
  operation: progress.steps,
  read: async (signedIn, page) => historyOf(signedIn, (await learnerOf(signedIn)).user, page),
}

const coursesFile: TableFile = {
  path: '/dashboard/learners/:userId/courses',
  operation: analytics.learners,
  async read(signedIn, { limit, cursor }) {
    const { user } = await learnerOf(signedIn)
    const conditions = [...rowsOfUser(user.id), visibleRecords(signedIn, 'e')]
    const query = { limit: Number(limit), cursor }
    return readRowsPage(signedIn.database, query, { tables: byUser, conditions })
  },
}

const gradesFile: TableFile = {
  path: '/dashboard/learners/:userId/grades',
  operation: grades.list,
  async read(signedIn, page) {
    const { user } = await learnerOf(signedIn)
    return ask(signedIn, grades.list, {
      query: { ...page, learner_id: user.id, sort: '-gradedAt' },
    })
  },
}

export const learnerPages = [
  coursesPage,
  gradesPage,
  historyPage,
  ...[coursesFile, gradesFile, historyFile].flatMap(tableFilePages),
]

function LearnerFiles({ signedIn, user, of }: { signedIn: SignedInRequest; user: User; of: string }) {
  return <FileLinks signedIn={signedIn} path={`${recordUrl({ base: '' }, 'learners', user.id)}/${of}`} />
}

function historyOf(signedIn: SignedInRequest, { id }: User, page: PageQuery) {
  const course = signedIn.query.get('course') || undefined
  return course === undefined
    ? ask(signedIn, progress.steps, { query: { ...page, learner_id: id } })
    : ask(signedIn, progress.history, {
        params: { learnerId: id },
        query: { ...page, course_id: course },
      })
}

const historyList: Omit<List<ProgressStep>, 'caption'> = {
  id: 'history',
  title: 'Progress',
  columns: [
    {
      name: 'Course',
      cell: (step, signedIn) => (
        <>
          <a href={recordUrl(signedIn, 'courses', step.courseId)}>{step.courseTitle}</a>
          {step.courseExternalId === null ? null : <small>{lineOf(step.courseExternalId, 64)}</small>}
        </>
      ),
    },
    {
      name: 'Completion',
      look: 'drawn',
      cell: ({ completionPercentage, status }) => (
        <Completion percentage={completionPercentage} status={status} />
      ),
    },
    { name: 'Status', cell: ({ status }) => <span class="word">{statusWords[status]}</span> },
    { name: 'Last accessed', cell: ({ lastAccessed }) => <Day time={lastAccessed} /> },
    { name: 'Recorded', cell: ({ recordedAt }) => <Minute time={recordedAt} /> },
  ],
}

/** With its external id, which tells courses of one title apart. */
function courseNameOf({ courseTitle, courseExternalId }: LearnerRow): string {
  return courseExternalId === null ? courseTitle : `${courseTitle} (${lineOf(courseExternalId, 64)})`
}

/** Throws 403 unless the user's role can see other learners. */
async function learnerOf(signedIn: SignedInRequest): Promise<{ user: User; name: string }> {
  requireRight(signedIn.principal, analytics.learners)
  const user = await ask(signedIn, users.get)
  return { user, name: personName(user) }
}

async function learnerHeading({
  signedIn,
  user: { id, email, externalId, role, status },
  name,
  shown,
}: {
  signedIn: SignedInRequest
  user: User
  name: string
  shown: 'Courses' | 'Grades' | 'History'
}) {
  const place = recordUrl(signedIn, 'learners', id)
  const isShownGraded = shown === 'Grades' || (await isGraded(signedIn, id))
  return (
    <>
      <Back to={`${signedIn.base}/dashboard/people`}>People</Back>
      <h1>{name}</h1>
      <p class="note">
        {name === email ? null : `${email} · `}
        {role}
        {status === 'active' ? null : ` · ${status}`}
        {' · '}
        <code>{externalId ?? id}</code>
      </p>
      <PageTabs
        label="Person"
        shown={shown}
        tabs={[
          [place, 'Courses'],
          ...(isShownGraded ? [[`${place}/grades`, 'Grades'] as const] : []),
          [`${place}/history`, 'History'],
        ]}
      />
    </>
  )
}

async function learnerCourses({
  signedIn,
  conditions,
  caption,
  none,
  note,
}: {
  signedIn: SignedInRequest
  conditions: ReturnType<typeof rowsOfUser>
  caption: string
  none: string
  note?: Child
}) {
  const { database } = signedIn
  const query = { ...pageQueryOf(signedIn), limit: pageSize }
  const listed = await readRowsPage(database, query, { tables: byUser, conditions })
  const summary = await summariseRows(database, conditions, signedIn.request.now)
  return (
    <>
      <Figures
        figures={[
          ['Courses', formatCount(summary.enrollments)],
          ['Completed', formatCount(summary.completed)],
          ['In progress', formatCount(summary.inProgress)],
          ['Not started', formatCount(summary.notStarted)],
          ['Average completion', formatPercent(summary.averageCompletionPercentage)],
          summary.averageGradePercent !== null && [
            'Average grade',
            formatPercent(summary.averageGradePercent),
          ],
        ]}
      />
      <ListCard
        signedIn={signedIn}
        list={{
          id: 'courses',
          title: 'Courses',
          caption,
          columns: courseColumns(listed.data, ({ courseId, courseTitle }) => (
            <a href={recordUrl(signedIn, 'courses', courseId)}>{courseTitle}</a>
          )),
        }}
        listed={listed}
        none={none}
        below={note}
      />
    </>
  )
}

/** The user's own courses and progress. */
export async function showOwnCourses(signedIn: SignedInRequest): Promise<Reply> {
  const { database, user } = signedIn
  const unpublished = rowsOfUser(user.id, { isPublished: false })
  const { enrollments: hidden } = await summariseRows(database, unpublished, signedIn.request.now)
  return framePage(
    signedIn,
    { title: 'My courses', section: '/dashboard' },
    <>
      <h1>My courses</h1>
      {
        await learnerCourses({
          signedIn,
          // Learners see published courses only.
          conditions: rowsOfUser(user.id, { isPublished: true }),
          caption: 'My courses and my progress',
          none: 'You are not enrolled in a course yet.',
          note:
            hidden > 0 ? (
              <p class="note">{`${countOf(hidden, 'more enrolment is in an unpublished course', 'more enrolments are in unpublished courses')}.`}</p>
            ) : null,
        })
      }
    </>,
  )
}
