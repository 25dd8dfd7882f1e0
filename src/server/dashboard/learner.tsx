import type { Child } from 'hono/jsx'
import { analytics } from '../../contract/analytics.ts'
import { type User, users } from '../../contract/users.ts'
import { visibleRecords } from '../access/sight.ts'
import { readRowsPage, rowsOfUser } from '../analytics/row-page.ts'
import { byUser } from '../analytics/rows.ts'
import { summariseRows } from '../analytics/summary.ts'
import { isGraded } from '../grades/grade-row.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { userRoutes } from '../users/users.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage, PageTabs } from './frame.tsx'
import { gradeList } from './grade.tsx'
import { CourseTable } from './learner-table.tsx'
import { nextPage, pageQueryOf, pageSize } from './paging.tsx'
import { Figures } from './table.tsx'
import { countOf, formatCount, formatPercent } from './value-text.tsx'

/** A learner and their courses, for staff. */
export const learnerPage: DashboardPage = {
  path: '/dashboard/learners/:userId',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    return framePage(
      signedIn,
      { title: name, section: '/dashboard' },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'Courses' })}
        {
          await learnerCourses({
            signedIn,
            conditions: [...rowsOfUser(user.id), visibleRecords(signedIn, 'e')],
            caption: `Courses of ${name}`,
            none: 'Not enrolled in a course yet.',
          })
        }
      </>,
    )
  },
}

/** All grades of one learner, for staff. */
export const learnerGradesPage: DashboardPage = {
  path: '/dashboard/learners/:userId/grades',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    return framePage(
      signedIn,
      { title: `Grades of ${name}`, section: '/dashboard' },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'Grades' })}
        <section class="card" aria-labelledby="grades">
          <h2 id="grades">Grades</h2>
          {
            await gradeList({
              signedIn,
              learnerId: user.id,
              caption: `Grades of ${name}, the latest first`,
              none: <p>No grades yet.</p>,
            })
          }
        </section>
      </>,
    )
  },
}

/** Returns the learner of a page; throws 403 unless the user's role can see other learners. */
async function learnerOf(signedIn: SignedInRequest): Promise<{ user: User; name: string }> {
  requireRight(signedIn.principal, analytics.learners)
  const user = await ask(signedIn, userRoutes, users.get, { params: signedIn.params })
  const { firstName, lastName } = user.profile
  return { user, name: [firstName, lastName].filter(Boolean).join(' ') || user.email }
}

/** The heading of all pages about a learner: their name and tabs. */
async function learnerHeading({
  signedIn,
  user: { id, email, externalId, role, status },
  name,
  shown,
}: {
  signedIn: SignedInRequest
  user: User
  name: string
  shown: 'Courses' | 'Grades'
}) {
  const place = `${signedIn.base}/dashboard/learners/${encodeURIComponent(id)}`
  return (
    <>
      <p class="back">
        <a href={`${signedIn.base}/dashboard`}>Overview</a>
      </p>
      <h1>{name}</h1>
      <p class="note">
        {name === email ? null : `${email} · `}
        {role}
        {status === 'active' ? null : ` · ${status}`}
        {' · '}
        <code>{externalId ?? id}</code>
      </p>
      {shown === 'Grades' || (await isGraded(signedIn, id)) ? (
        <PageTabs
          label="Learner"
          shown={shown}
          tabs={[
            [place, 'Courses'],
            [`${place}/grades`, 'Grades'],
          ]}
        />
      ) : null}
    </>
  )
}

/** The courses of one learner: figures over all, and one page of them. */
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
  const { data, nextCursor } = await readRowsPage(database, query, { tables: byUser, conditions })
  const summary = await summariseRows(database, conditions)
  return (
    <>
      <Figures
        figures={[
          ['Courses', formatCount(summary.enrollments)],
          ['Completed', formatCount(summary.completed)],
          ['In progress', formatCount(summary.inProgress)],
          ['Not started', formatCount(summary.notStarted)],
          ['Average completion', formatPercent(summary.averageCompletionPercentage)],
          ...(summary.averageGradePercent === null
            ? []
            : [['Average grade', formatPercent(summary.averageGradePercent)] as const]),
        ]}
      />
      <section class="card" aria-labelledby="courses">
        <h2 id="courses">Courses</h2>
        {data.length === 0 ? (
          <p>{none}</p>
        ) : (
          <>
            <CourseTable
              caption={caption}
              rows={data}
              link={({ courseId, courseTitle }) => (
                <a href={`${signedIn.base}/dashboard/courses/${encodeURIComponent(courseId)}`}>
                  {courseTitle}
                </a>
              )}
            />
            {nextPage(signedIn, nextCursor)}
          </>
        )}
        {note}
      </section>
    </>
  )
}

/** The user's own courses and progress. */
export async function showOwnCourses(signedIn: SignedInRequest): Promise<Reply> {
  const { database, user } = signedIn
  const { enrollments: hidden } = await summariseRows(database, rowsOfUser(user.id, { isPublished: false }))
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
