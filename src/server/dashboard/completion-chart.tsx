import type { Standing } from '../analytics/standing.ts'
import { Table } from './table.tsx'
import { counted, many, percent } from './value-text.tsx'

/** The three parts of a course's enrolments. */
export type Parts = Pick<Standing, 'enrollments' | 'notStarted' | 'inProgress' | 'completed'>

const ranges = Array.from({ length: 10 }, (_, tenth) => `${tenth * 10}–${tenth * 10 + 9}`)

// In px, from the top of the picture: a number stands above the tallest column, the scale below the line.
const top = 24
const line = 144
const scale = 164

/**
 * The enrolments by percentage completed: their three parts as one bar, and those in progress by tenths, as columns of
 * a scale of their own, each as high as its number; the same in words and as a table.
 */
export function CompletionChart({ standing }: { standing: Standing }) {
  const { enrollments, inProgress, tenths } = standing
  return (
    <figure class="card" aria-labelledby="chart">
      <figcaption>
        <h2 id="chart">Enrolments by percentage completed</h2>
      </figcaption>
      <StandingBar {...standing} height={28} />
      <Key standing={standing} />
      {inProgress === 0 ? null : (
        <>
          <h3>
            In progress <span class="note">{many(inProgress, 'enrolment')}, by percentage completed</span>
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
              {`${tenths.map((count, tenth) => `${ranges[tenth]}%: ${counted(count)}`).join('; ')}.`}
            </desc>
            {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group is not; what its columns say is told once, above */}
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
          ].map(([name, count]) => [name, counted(count), share(count, enrollments)])}
        />
      </details>
    </figure>
  )
}

function share(count: number, all: number): string {
  const percentage = (100 * count) / all
  return count > 0 && percentage < 0.05 ? '< 0.1%' : percent(percentage)
}

function TenthColumn({ count, tenth, height }: { count: number; tenth: number; height: number }) {
  const range = ranges[tenth]
  const middle = `${tenth * 10 + 5}%`
  return (
    <>
      <svg x={`${tenth * 10}%`} width="10%" height={line}>
        <title>{`${range}%: ${many(count, 'enrolment')}`}</title>
        <rect class="whole" width="100%" height="100%" />
        {count === 0 ? null : <rect class="doing" x="14%" y={line - height} width="72%" height={height} />}
        <text class={count === 0 ? 'few' : undefined} x="50%" y={line - height - 7}>
          {counted(count)}
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

/** What the three parts of a bar look like: solid, hatched, empty; with their sizes where those are given. */
export function Key({ standing }: { standing?: Parts }) {
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
              <strong>{counted(count)}</strong> {share(count, standing.enrollments)}
            </>
          ) : null}
        </li>
      ))}
    </ul>
  )
}

/** The pattern that tells what is in progress from what is done, without colour. */
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

/** A course's enrolments as one bar in three parts. */
export function StandingBar({
  enrollments,
  notStarted,
  inProgress,
  completed,
  height = 16,
}: Parts & { height?: number }) {
  const told = `${counted(completed)} completed, ${counted(inProgress)} in progress, ${counted(notStarted)} not started`
  const part = (count: number) => (enrollments === 0 ? 0 : (100 * count) / enrollments)
  return (
    <svg class="bar" role="img" width="100%" height={height}>
      <title>{enrollments === 0 ? 'No learners enrolled' : told}</title>
      <rect class="doing" width={`${part(completed + inProgress)}%`} height="100%" />
      <rect class="done" width={`${part(completed)}%`} height="100%" />
    </svg>
  )
}

/** How far one learner is: a bar, and the number beside it. */
export function Completion({ percentage, status }: { percentage: number; status: string }) {
  return (
    <span class="completion">
      <svg class="bar" aria-hidden="true" width="100%" height="10">
        <rect class={status === 'completed' ? 'done' : 'doing'} width={`${percentage}%`} height="100%" />
      </svg>
      <span>{percent(percentage)}</span>
    </span>
  )
}
