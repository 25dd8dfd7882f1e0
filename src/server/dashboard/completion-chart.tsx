import { ColumnChart, StatusBar, StatusKey } from '../../report/drawings.tsx'
import { Table } from '../../report/elements.tsx'
import type { Standing } from '../analytics/standing.ts'
import { countOf, formatCount, formatPercent } from './values.tsx'

export type EnrollmentCounts = Pick<Standing, 'enrollments' | 'notStarted' | 'inProgress' | 'completed'>

const ranges = Array.from({ length: 10 }, (_, tenth) => `${tenth * 10}–${tenth * 10 + 9}`)

/** A bar by status, columns by tenths for those in progress, and the same as a table. */
export function CompletionChart({ standing }: { standing: Standing }) {
  const { enrollments, inProgress, tenths } = standing
  return (
    <figure class="card" aria-labelledby="chart">
      <figcaption>
        <h2 id="chart">Enrolments by percentage completed</h2>
      </figcaption>
      <StandingBar {...standing} height={28} />
      <Legend standing={standing} />
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
          columns={[
            { name: 'Completion' },
            { name: 'Enrolments', look: 'figures' },
            { name: 'Share', look: 'figures' },
          ]}
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

/** Solid, hatched, empty; with counts if given. */
export function Legend({ standing }: { standing?: EnrollmentCounts }) {
  const word = (name: string, count: number | undefined) =>
    standing && count !== undefined ? (
      <>
        {name} <strong>{formatCount(count)}</strong> {share(count, standing.enrollments)}
      </>
    ) : (
      name
    )
  return (
    <StatusKey
      words={[
        word('Completed', standing?.completed),
        word('In progress', standing?.inProgress),
        word('Not started', standing?.notStarted),
      ]}
    />
  )
}

export function StandingBar({
  enrollments,
  notStarted,
  inProgress,
  completed,
  height = 16,
}: EnrollmentCounts & { height?: number }) {
  const summary = `${formatCount(completed)} completed, ${formatCount(inProgress)} in progress, ${formatCount(notStarted)} not started`
  const part = (count: number) => (enrollments === 0 ? 0 : (100 * count) / enrollments)
  return (
    <StatusBar
      title={enrollments === 0 ? 'No learners enrolled' : summary}
      completed={part(completed)}
      inProgress={part(inProgress)}
      height={height}
    />
  )
}

export function Completion({ percentage, status }: { percentage: number; status: string }) {
  return (
    <span class="completion">
      <svg class="bar" aria-hidden="true" width="100%" height="10">
        <rect class={status === 'completed' ? 'done' : 'doing'} width={`${percentage}%`} height="100%" />
      </svg>
      <span>{formatPercent(percentage)}</span>
    </span>
  )
}
