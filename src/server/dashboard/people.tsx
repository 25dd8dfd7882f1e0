import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { roles, userStatuses } from '../../contract/constants.ts'
import { grades } from '../../contract/grades.ts'
import { type ProgressStep, progress } from '../../contract/progress.ts'
import { type User, users } from '../../contract/users.ts'
import { Card, figureTiles } from '../../report/elements.tsx'
import { visibleRecords } from '../access/sight.ts'
import { readRowsPage, rowsOfUser } from '../analytics/learner-pages.ts'
import { byUser } from '../analytics/rows.ts'
import { summariseRows } from '../analytics/summary.ts'
import { isGraded } from '../grades/grade-row.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import type { ProblemError } from '../problem-error.ts'
import { calendarLink } from './calendars.tsx'
import { ask, type SignedInRequest } from './call-api.ts'
import { courseColumns, groupFilter } from './course-learners.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage, pageTabs } from './frame.tsx'
import { gradeList } from './grade.tsx'
import { type List, listCard, listedOrFault, listPage } from './list.tsx'
import {
  capitalized,
  capitalizedChoices,
  type FilterField,
  filterForm,
  filterIn,
  type PageQuery,
  pageQueryOf,
  pageSize,
} from './list-parameters.tsx'
import { completionBar } from './standing.tsx'
import { fileLinks, tableFilePages } from './table-file.tsx'
import {
  codeOrNone,
  countOf,
  Day,
  formatCount,
  formatPercent,
  Minute,
  recordLink,
  recordUrl,
  stateTag,
  statusWords,
} from './values.tsx'

const path = '/dashboard/people'

const peopleList: List<User> = {
  id: 'people',
  title: 'People',
  caption: 'People of the academy',
  sort: 'email',
  columns: [
    {
      name: 'Person',
      sort: 'email',
      cell: (user, signedIn) => (
        <>
          {recordLink(signedIn, 'learners', user.id, personName(user))}
          {personName(user) === user.email ? null : <small>{user.email}</small>}
        </>
      ),
    },
    {
      name: 'External ID',
      look: 'broad',
      cell: ({ externalId }) => codeOrNone(externalId, 64),
    },
    { name: 'Role', cell: ({ role }) => capitalized(role) },
    { name: 'Status', cell: ({ status }) => stateTag(status) },
    { name: 'Added', sort: 'createdAt', cell: ({ createdAt }) => <Day time={createdAt} /> },
    { name: 'Updated', sort: 'updatedAt', cell: ({ updatedAt }) => <Day time={updatedAt} /> },
  ],
}

/** For staff; instructors see those of their courses. */
export const peoplePages = listPage<User>({
  path,
  title: 'People',
  list: peopleList,
  operation: users.list,
  query(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    return { ...filterIn(signedIn.query, filterNames), sort: signedIn.query.get('sort') ?? 'email' }
  },
  findsExternalIds: true,
  filter: { label: 'Filter people', fields: filterFields },
  none: 'No people yet.',
  noMatch: 'No people match.',
})

const filterNames = { q: 'q', role: 'role', status: 'status', group_id: 'group' }

async function filterFields(signedIn: SignedInRequest): Promise<FilterField[]> {
  const group = await groupFilter(signedIn, 'All groups')
  return [
    { name: 'q', label: 'Name, address or external ID', type: 'search' },
    { name: 'role', label: 'Role', choices: capitalizedChoices(roles), all: 'Any role' },
    { name: 'status', label: 'Status', choices: capitalizedChoices(userStatuses), all: 'Not deleted' },
    ...(group ? [group] : []),
  ]
}

function personName({ profile: { firstName, lastName }, email }: User): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}

const learnerPath = '/dashboard/learners/:userId'

const coursesPage: DashboardPage = {
  path: learnerPath,
  async show(signedIn) {
    const learner = await learnerOf(signedIn)
    const { user, name } = learner
    return learnerPage(
      signedIn,
      learner,
      { title: name, shown: 'Courses' },
      ...(await coursesOfUser(signedIn, seenRowsOf(signedIn, user), {
        caption: `Courses of ${name}`,
        none: 'Not enrolled in a course yet.',
        below: (
          <>
            {learnerFiles(signedIn, user, 'courses')}
            {calendarLink(signedIn, { user: user.id })}
          </>
        ),
      })),
    )
  },
}

const gradesPage: DashboardPage = {
  path: `${learnerPath}/grades`,
  async show(signedIn) {
    const learner = await learnerOf(signedIn)
    const { user, name } = learner
    const caption = `Grades of ${name}, the latest first`
    return learnerPage(
      signedIn,
      learner,
      { title: `Grades of ${name}`, shown: 'Grades' },
      <Card id="grades" title="Grades">
        {await gradeList(signedIn, { learnerId: user.id, caption, none: <p>No grades yet.</p> })}
        {learnerFiles(signedIn, user, 'grades')}
      </Card>,
    )
  },
}

/** For staff: in all courses, or the newest first in one. */
const historyPage: DashboardPage = {
  path: `${learnerPath}/history`,
  async show(signedIn) {
    const learner = await learnerOf(signedIn)
    const { user, name } = learner
    const { data: taken } = await readRowsPage(
      signedIn.database,
      { limit: maxCourseChoices },
      { tables: byUser, conditions: seenRowsOf(signedIn, user) },
    )
    // The external id tells courses of one title apart.
    const choices = taken.map(({ courseId, courseTitle: title, courseExternalId: id }) => {
      return [courseId, id === null ? title : `${title} (${lineOf(id, 64)})`] as const
    })
    const fields: FilterField[] = [{ name: 'course', label: 'Course', choices, all: 'All courses' }]
    const listed = await listedOrFault<ProgressStep>(() => historyOf(signedIn, user, pageQueryOf(signedIn)))
    const list = { ...historyList, caption: `Progress of ${name}` }
    return learnerPage(
      signedIn,
      learner,
      { title: `History of ${name}`, shown: 'History', fault: listed.fault },
      listCard(signedIn, list, listed, {
        above: filterForm(signedIn, 'Filter progress', fields, 'history'),
        none: 'No progress recorded yet.',
        below: listed.data.length === 0 ? null : learnerFiles(signedIn, user, 'history'),
      }),
    )
  },
}

const maxCourseChoices = 100

const files = tableFilePages({
  path: `${learnerPath}/courses`,
  operation: analytics.learners,
  async read(signedIn, { limit, cursor }) {
    const { user } = await learnerOf(signedIn)
    const query = { limit: Number(limit), cursor }
    return readRowsPage(signedIn.database, query, {
      tables: byUser,
      conditions: seenRowsOf(signedIn, user),
    })
  },
}).concat(
  tableFilePages({
    path: `${learnerPath}/grades`,
    operation: grades.list,
    async read(signedIn, page) {
      const { user } = await learnerOf(signedIn)
      return ask(signedIn, grades.list, { query: { ...page, learner_id: user.id, sort: '-gradedAt' } })
    },
  }),
  tableFilePages({
    path: `${learnerPath}/history`,
    operation: progress.steps,
    read: async (signedIn, page) => historyOf(signedIn, (await learnerOf(signedIn)).user, page),
  }),
)

export const learnerPages = [coursesPage, gradesPage, historyPage, ...files]

function learnerFiles(signedIn: SignedInRequest, { id }: User, of: string): Child {
  return fileLinks(signedIn, `${recordUrl({ base: '' }, 'learners', id)}/${of}`)
}

function seenRowsOf(signedIn: SignedInRequest, { id }: User) {
  return [...rowsOfUser(id), visibleRecords(signedIn, 'e')]
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
      cell: ({ courseId, courseTitle, courseExternalId }, signedIn) => (
        <>
          {recordLink(signedIn, 'courses', courseId, courseTitle)}
          {courseExternalId === null ? null : <small>{lineOf(courseExternalId, 64)}</small>}
        </>
      ),
    },
    {
      name: 'Completion',
      look: 'drawn',
      cell: ({ completionPercentage, status }) => completionBar(completionPercentage, status),
    },
    { name: 'Status', cell: ({ status }) => <span class="word">{statusWords[status]}</span> },
    { name: 'Last accessed', cell: ({ lastAccessed }) => <Day time={lastAccessed} /> },
    { name: 'Recorded', cell: ({ recordedAt }) => <Minute time={recordedAt} /> },
  ],
}

interface Learner {
  readonly user: User
  readonly name: string
}

/** Throws 403. */
async function learnerOf(signedIn: SignedInRequest): Promise<Learner> {
  requireRight(signedIn.principal, analytics.learners)
  const user = await ask(signedIn, users.get)
  return { user, name: personName(user) }
}

async function learnerPage(
  signedIn: SignedInRequest,
  { user: { id, email, externalId, role, status }, name }: Learner,
  {
    title,
    shown,
    fault,
  }: { title: string; shown: 'Courses' | 'Grades' | 'History'; fault?: ProblemError | undefined },
  ...content: readonly Child[]
): Promise<Reply> {
  const place = recordUrl(signedIn, 'learners', id)
  const isShownGraded = shown === 'Grades' || (await isGraded(signedIn, id))
  return framePage(
    signedIn,
    { title, section: path, fault, back: [signedIn.base + path, 'People'], heading: name },
    <p class="note">
      {name === email ? null : `${email} · `}
      {role}
      {status === 'active' ? null : ` · ${status}`}
      {' · '}
      <code>{externalId ?? id}</code>
    </p>,
    pageTabs('Person', shown, [
      [place, 'Courses'],
      isShownGraded && [`${place}/grades`, 'Grades'],
      [`${place}/history`, 'History'],
    ]),
    ...content,
  )
}

async function coursesOfUser(
  signedIn: SignedInRequest,
  conditions: ReturnType<typeof rowsOfUser>,
  { caption, ...around }: { caption: string; none: string; below: Child },
): Promise<readonly Child[]> {
  const { database, request } = signedIn
  const query = { ...pageQueryOf(signedIn), limit: pageSize }
  const listed = await readRowsPage(database, query, { tables: byUser, conditions })
  const summary = await summariseRows(database, conditions, request.now)
  const { averageGradePercent } = summary
  const columns = courseColumns(listed.data, ({ courseId, courseTitle }) =>
    recordLink(signedIn, 'courses', courseId, courseTitle),
  )
  return [
    figureTiles([
      ['Courses', formatCount(summary.enrollments)],
      ['Completed', formatCount(summary.completed)],
      ['In progress', formatCount(summary.inProgress)],
      ['Not started', formatCount(summary.notStarted)],
      ['Average completion', formatPercent(summary.averageCompletionPercentage)],
      averageGradePercent !== null && ['Average grade', formatPercent(averageGradePercent)],
    ]),
    listCard(signedIn, { id: 'courses', title: 'Courses', caption, columns }, listed, around),
  ]
}

export async function showOwnCourses(signedIn: SignedInRequest): Promise<Reply> {
  const { database, user, request } = signedIn
  const unpublished = rowsOfUser(user.id, { isPublished: false })
  const { enrollments: hidden } = await summariseRows(database, unpublished, request.now)
  return framePage(
    signedIn,
    { title: 'My courses', section: '/dashboard' },
    // Learners see published courses only.
    ...(await coursesOfUser(signedIn, rowsOfUser(user.id, { isPublished: true }), {
      caption: 'My courses and my progress',
      none: 'You are not enrolled in a course yet.',
      below:
        hidden > 0 ? (
          <p class="note">{`${countOf(hidden, 'more enrolment is in an unpublished course', 'more enrolments are in unpublished courses')}.`}</p>
        ) : null,
    })),
  )
}
