import sql from 'sql-template-tag'
import { analytics, type Summary } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { analyticsRoutes } from '../analytics/analytics.ts'
import { rowsPage } from '../analytics/analytics-rows.ts'
import { courseRoutes } from '../courses/courses.ts'
import { isRole } from '../http/handler.ts'
import { Distribution } from './completion-chart.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Figures } from './figures.tsx'
import { framed } from './frame.tsx'
import { LearnerTable, OwnTable } from './learner-table.tsx'
import { ownRows } from './own-courses.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { counted, percent, statusWords } from './value-text.tsx'

/** A course: for those who work for the academy its learners, for a learner how far they are in it themselves. */
export const coursePage: DashboardPage = {
  path: '/dashboard/courses/:courseId',
  show(signedIn) {
    const course = ask(signedIn, courseRoutes, courses.get, { params: signedIn.params })
    const Content = isRole(signedIn, ...analytics.learners.roles) ? Learners : OwnProgress
    return framed(
      signedIn,
      { title: course.title, section: '/dashboard' },
      <>
        <p class="back">
          <a href={`${signedIn.base}/dashboard`}>Overview</a>
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
        {course.description === '' ? null : <p class="text">{course.description}</p>}
        <Content {...{ signedIn, course }} />
      </>,
    )
  },
}

function Learners({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const only = { course_id: course.id }
  const status = signedIn.query.get('status') ?? undefined
  const { data, nextCursor } = ask(signedIn, analyticsRoutes, analytics.learners, {
    query: { ...only, status, ...pageAsked(signedIn), summary: 'false' },
  })
  const { summary } = ask(signedIn, analyticsRoutes, analytics.learners, { query: { ...only, limit: '1' } })
  if (!summary) throw new TypeError('the first page of analytics has a summary')
  return (
    <>
      <Figures
        figures={[
          ['Learners', counted(summary.learners)],
          ['Average completion', percent(summary.averageCompletionPercentage)],
          ['Median completion', percent(summary.medianCompletionPercentage)],
          ['Average grade', percent(summary.averageGradePercent)],
        ]}
      />
      {summary.enrollments > 0 && !signedIn.query.has('cursor') ? <Distribution {...summary} /> : null}
      <section class="card" aria-labelledby="learners">
        <h2 id="learners">Learners</h2>
        <StatusFilter {...{ signedIn, summary, status }} />
        {data.length === 0 ? <p>Nobody is here.</p> : <LearnerTable rows={data} />}
        {nextPage(signedIn, nextCursor)}
      </section>
    </>
  )
}

function StatusFilter({
  signedIn,
  summary,
  status,
}: {
  signedIn: SignedInRequest
  summary: Summary
  status: string | undefined
}) {
  const here = signedIn.base + signedIn.request.path
  const counts = {
    not_started: summary.notStarted,
    in_progress: summary.inProgress,
    completed: summary.completed,
  }
  const choices = [
    { href: here, word: 'All', count: summary.enrollments, chosen: status === undefined },
    ...progressStatuses.map((name) => ({
      href: `${here}?status=${name}`,
      word: statusWords[name],
      count: counts[name],
      chosen: status === name,
    })),
  ]
  return (
    <nav class="filter" aria-label="Learners by status">
      <ul>
        {choices.map(({ href, word, count, chosen }) => (
          <li>
            <a href={href} aria-current={chosen ? 'true' : undefined}>
              {word} <span>{counted(count)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function OwnProgress({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database } = signedIn.academy
  const conditions = [...ownRows(signedIn), sql`c.id = ${course.id}`]
  const { data } = rowsPage(database, { limit: 1, include_total: false }, conditions)
  return (
    <section class="card" aria-labelledby="progress">
      <h2 id="progress">My progress</h2>
      {data.length === 0 ? <p>You are not enrolled in this course.</p> : <OwnTable rows={data} />}
    </section>
  )
}
