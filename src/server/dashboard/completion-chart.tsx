import type { Standing } from '../analytics/standing.ts'
import { Table } from './table.tsx'
import { countOf, formatCount, formatPercent } from './value-text.tsx'

/** Enrolments by status. */
export type EnrollmentCounts = Pick<Standing, 'enrollments' | 'notStarted' | 'inProgress' | 'completed'>

const ranges = Array.from({ length: 10 }, (_, tenth) => `${tenth * 10}–${tenth * 10 + 9}`)

// In px from the top: the tallest column (its number is above), the base line, and the scale.
const top = 24
const line = 144
const scale = 164

/** Enrolments by percentage completed: a bar by status, columns by tenths for those in progress, and the same as a table. */
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
          <svg
            class="columns"
            role="img"
            aria-labelledby="columns-title columns-told"
            width="100%"
            height={scale + 8}
          >
            <title id="columns-title">Enrolments in progress by percentage completed</title>
            <desc id="columns-told">
              {`${tenths.map((count, tenth) => `${ranges[tenth]}%: ${formatCount(count)}`).join('; ')}.`}
            </desc>
            {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group is not focusable; desc above has the text */}
            <g aria-hidden="true">
              {tenths.map((count, tenth) => (
                <TenthColumn
                  count={count}
                  tenth={tenth}
                  height={((line - top) * count) / Math.max(...tenths)}
                />
              ))}
            </g>
            <line class="axis" x1="0" x2="100%" y1={line + 0.5} y2={line + 0.5} />
          </svg>
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

function TenthColumn({ count, tenth, height }: { count: number; tenth: number; height: number }) {
  const range = ranges[tenth]
  const middle = `${tenth * 10 + 5}%`
  return (
    <>
      <svg x={`${tenth * 10}%`} width="10%" height={line}>
        <title>{`${range}%: ${countOf(count, 'enrolment')}`}</title>
        <rect class="whole" width="100%" height="100%" />
        {count === 0 ? null : <rect class="doing" x="14%" y={line - height} width="72%" height={height} />}
        <text class={count === 0 ? 'few' : undefined} x="50%" y={line - height - 7}>
          {formatCount(count)}
        </text>
      </svg>
      <text class="few wide" x={middle} y={scale}>
        {`${range}%`}
      </text>
      <text class="few slim" x={middle} y={scale}>
        {tenth * 10}
      </text>
    </>
  )
}

/** The legend of a bar: solid, hatched, empty; with counts if given. */
export function Legend({ standing }: { standing?: EnrollmentCounts }) {
  const parts = [
    ['done', 'Completed', standing?.completed],
    ['doing', 'In progress', standing?.inProgress],
    ['', 'Not started', standing?.notStarted],
  ] as const
  return (
    <ul class="key">
      {parts.map(([look, word, count]) => (
        <li>
          <svg class="bar" width="22" height="14" aria-hidden="true">
            {look ? <rect class={look} width="100%" height="100%" /> : null}
          </svg>
          {word}
          {standing && count !== undefined ? (
            <>
              {' '}
              <strong>{formatCount(count)}</strong> {share(count, standing.enrollments)}
            </>
          ) : null}
        </li>
      ))}
    </ul>
  )
}

/** The pattern that marks enrolments in progress without relying on colour. */
export function Hatching() {
  return (
    <svg class="unseen" aria-hidden="true" width="0" height="0">
      <defs>
        <pattern
          id="hatching"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect class="ground" width="6" height="6" />
          <rect class="stroke" width="2.5" height="6" />
        </pattern>
      </defs>
    </svg>
  )
}

/** A bar of enrolments by status. */
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
    <svg class="bar" role="img" width="100%" height={height}>
      <title>{enrollments === 0 ? 'No learners enrolled' : summary}</title>
      <rect class="doing" width={`${part(completed + inProgress)}%`} height="100%" />
      <rect class="done" width={`${part(completed)}%`} height="100%" />
    </svg>
  )
}

/** A learner's completion: a bar, and the number beside it. */
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
