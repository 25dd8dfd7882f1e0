import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type Attention, attentionDays, attentionKinds, stuckBelow } from '../../contract/constants.ts'
import { Card, ColumnChart, figureColumns, statusBar, statusKey, Table } from '../../report/elements.tsx'
import type { CourseAttention, Standing } from '../analytics/summary.ts'
import { countOf, formatCount, formatPercent } from './values.tsx'

export type EnrollmentCounts = Pick<Standing, 'enrollments' | 'notStarted' | 'inProgress' | 'completed'>

const ranges = Array.from({ length: 10 }, (_, tenth) => `${tenth * 10}–${tenth * 10 + 9}`)

export function completionChart(standing: Standing): Child {
  const { enrollments, inProgress, tenths } = standing
  return (
    <figure class="card" aria-labelledby="chart">
      <figcaption>
        <h2 id="chart">Enrolments by percentage completed</h2>
      </figcaption>
      {standingBar(standing, 28)}
      {legend(standing)}
      {inProgress === 0 ? null : (
        <>
          <h3>
            In progress <span class="note">{countOf(inProgress, 'enrolment')}, by percentage completed</span>
          </h3>
          <ColumnChart
            id="columns"
            title="Enrolments in progress by percentage completed"
            columns={tenths.map((count, tenth) => ({
              count,
              value: formatCount(count),
              counted: countOf(count, 'enrolment'),
              name: `${ranges[tenth]}%`,
              slimLabel: String(tenth * 10),
            }))}
            look="doing"
          />
        </>
      )}
      <details>
        <summary>Show as table</summary>
        <Table
          caption="Enrolments by percentage completed"
          columns={[{ name: 'Completion' }, ...figureColumns('Enrolments', 'Share')]}
          rows={[
            ['Not started', standing.notStarted] as const,
            ...tenths.map((count, tenth) => [`${ranges[tenth]}%`, count] as const),
            ['Completed', standing.completed] as const,
          ].map(([name, count]) => [name, formatCount(count), share(count, enrollments)])}
        />
      </details>
    </figure>
  )
}

function share(count: number, all: number): string {
  const percentage = (100 * count) / all
  return count > 0 && percentage < 0.05 ? '< 0.1%' : formatPercent(percentage)
}

export function legend(standing?: EnrollmentCounts): Child {
  const word = (name: string, count: number | undefined) =>
    standing && count !== undefined ? (
      <>
        {name} <strong>{formatCount(count)}</strong> {share(count, standing.enrollments)}
      </>
    ) : (
      name
    )
  const { completed, inProgress, notStarted } = standing ?? {}
  return statusKey(
    word('Completed', completed),
    word('In progress', inProgress),
    word('Not started', notStarted),
  )
}

export function standingBar(
  { enrollments, notStarted, inProgress, completed }: EnrollmentCounts,
  height = 16,
): Child {
  const summary = `${formatCount(completed)} completed, ${formatCount(inProgress)} in progress, ${formatCount(notStarted)} not started`
  const part = (count: number) => (enrollments === 0 ? 0 : (100 * count) / enrollments)
  const title = enrollments === 0 ? 'No learners enrolled' : summary
  return statusBar(title, part(completed), part(inProgress), height)
}

export function completionBar(percentage: number, status: string): Child {
  return (
    <span class="completion">
      <svg class="bar" aria-hidden="true" width="100%" height="10">
        <rect class={status === 'completed' ? 'done' : 'doing'} width={`${percentage}%`} height="100%" />
      </svg>
      <span>{formatPercent(percentage)}</span>
    </span>
  )
}

export const attentionWords: Readonly<Record<Attention, string>> = {
  inactive: 'Inactive',
  stuck: 'Stuck',
  not_passed: 'Not passed',
}

const attentionMeanings: Readonly<Record<Attention, string>> = {
  inactive: `No access for ${attentionDays} days, not completed`,
  stuck: `Below ${stuckBelow}%, no progress for ${attentionDays} days`,
  not_passed: 'Grade below the passing score',
}

const maxCourses = 3
const maxFoldedCourses = 20

export function courseAttention(standing: Standing, here: string): Child {
  return attentionTiles(standing, (kind, count) => ({
    figure: count === 0 ? '0' : <a href={linkTo(here, kind)}>{formatCount(count)}</a>,
  }))
}

export function academyAttention(
  standing: Standing,
  courses: readonly CourseAttention[],
  courseUrl: (courseId: string) => string,
): Child {
  const titles = Map.groupBy(courses, ({ courseTitle }) => courseTitle)
  const nameOf = ({ courseTitle, courseExternalId, courseId }: CourseAttention) =>
    titles.get(courseTitle)?.length === 1
      ? courseTitle
      : `${courseTitle} (${lineOf(courseExternalId ?? courseId, 64)})`
  return attentionTiles(standing, (kind, count) => {
    const concerned = courses
      .filter(({ attention }) => attention[kind] > 0)
      .sort((one, other) => other.attention[kind] - one.attention[kind])
    const list = (some: readonly CourseAttention[]) => (
      <ul class="plain">
        {some.map((course) => (
          <li>
            <a href={linkTo(courseUrl(course.courseId), kind)}>
              <span class="unseen">{attentionWords[kind]} in </span>
              {nameOf(course)}: {formatCount(course.attention[kind])}
            </a>
          </li>
        ))}
      </ul>
    )
    const more = concerned.slice(maxCourses)
    return {
      figure: formatCount(count),
      below: (
        <>
          {list(concerned.slice(0, maxCourses))}
          {more.length === 0 ? null : (
            <details>
              <summary>{countOf(more.length, 'more course')}</summary>
              {list(more.slice(0, maxFoldedCourses))}
              {more.length > maxFoldedCourses ? (
                <p class="note">{`and ${formatCount(more.length - maxFoldedCourses)} with fewer`}</p>
              ) : null}
            </details>
          )}
        </>
      ),
    }
  })
}

function attentionTiles(
  { attention, averageGradePercent }: Standing,
  tile: (kind: Attention, count: number) => { readonly figure: Child; readonly below?: Child },
): Child {
  // Without grades there is no pass or fail.
  const kinds = attentionKinds.filter((kind) => kind !== 'not_passed' || averageGradePercent !== null)
  return (
    <Card id="attention" title="Needs attention">
      <dl class="attention">
        {kinds.map((kind) => {
          const { figure, below } = tile(kind, attention[kind])
          return (
            <div class={attention[kind] === 0 ? 'nothing' : undefined}>
              <dt>{attentionWords[kind]}</dt>
              <dd class="figure">{figure}</dd>
              <dd class="note">{attentionMeanings[kind]}</dd>
              {attention[kind] > 0 && below ? <dd>{below}</dd> : null}
            </div>
          )
        })}
      </dl>
    </Card>
  )
}

function linkTo(place: string, attention: Attention): string {
  return `${place}?attention=${attention}#learners`
}
