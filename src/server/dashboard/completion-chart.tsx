import type { Summary } from '../../contract/analytics.ts'
import { Table } from './table.tsx'
import { counted, many, percent } from './value-text.tsx'

/** How many are how far. */
export type Standing = Pick<Summary, 'enrollments' | 'notStarted' | 'inProgress' | 'completed'>

const ranges = Array.from({ length: 10 }, (_, tenth) =>
  tenth === 9 ? '90–100' : `${tenth * 10}–${tenth * 10 + 9}`,
)

// In px, from the top of the picture: a number stands above the tallest column, the scale below the line.
const top = 24
const line = 164
const scale = 184

/** The enrolments by tenths of completion: columns with their numbers, and the same numbers as a table. */
export function Distribution({ distribution, enrollments }: Pick<Summary, 'distribution' | 'enrollments'>) {
  const most = Math.max(1, ...distribution)
  const told = distribution.map((count, tenth) => `${ranges[tenth]} %: ${counted(count)}`).join('; ')
  return (
    <figure class="card">
      <figcaption>
        <h2>Enrolments by completion</h2>
        <p class="note">How many are how far, in per cent of a course.</p>
      </figcaption>
      <svg class="columns" role="img" aria-labelledby="columns-title columns-told" width="100%" height="192">
        <title id="columns-title">Enrolments by completion</title>
        <desc id="columns-told">{`${many(enrollments, 'enrolment')}. ${told}.`}</desc>
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group is not; what its columns say is told once, above */}
        <g aria-hidden="true">
          {distribution.map((count, tenth) => (
            <TenthColumn count={count} tenth={tenth} height={heightOf(count, most)} />
          ))}
        </g>
        <line class="axis" x1="0" x2="100%" y1={line + 0.5} y2={line + 0.5} />
      </svg>
      <details>
        <summary>The same as a table</summary>
        <Table
          caption="Enrolments by completion"
          columns={[{ name: 'Completion' }, { name: 'Enrolments', look: 'figures' }]}
          rows={distribution.map((count, tenth) => [`${ranges[tenth]} %`, counted(count)])}
        />
      </details>
    </figure>
  )
}

/** What is there at all is to be seen. */
function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(3, ((line - top) * count) / most)
}

function TenthColumn({ count, tenth, height }: { count: number; tenth: number; height: number }) {
  const range = ranges[tenth]
  const middle = `${tenth * 10 + 5}%`
  return (
    <>
      {/* The lower corners are round, too, and cut off at the line. */}
      <svg x={`${tenth * 10}%`} width="10%" height={line}>
        <title>{`${range} %: ${many(count, 'enrolment')}`}</title>
        <rect class="whole" width="100%" height="100%" />
        <rect class="done" x="14%" y={line - height} width="72%" height={height + 8} rx="4" />
        <text class={count === 0 ? 'few' : undefined} x="50%" y={line - height - 7}>
          {counted(count)}
        </text>
      </svg>
      <text class="few wide" x={middle} y={scale}>
        {range}
      </text>
      <text class="few slim" x={middle} y={scale}>
        {tenth === 9 ? '90+' : `${tenth * 10}`}
      </text>
    </>
  )
}

/** What the three parts of a bar look like: solid, hatched, empty. Needs `Hatching` on the page. */
export function Key() {
  const parts = [
    ['done', 'Completed'],
    ['doing', 'In progress'],
    ['', 'Not started'],
  ] as const
  return (
    <ul class="key">
      {parts.map(([look, word]) => (
        <li>
          <svg class="bar" width="22" height="14" aria-hidden="true">
            {look ? <rect class={look} width="100%" height="100%" /> : null}
          </svg>
          {word}
        </li>
      ))}
    </ul>
  )
}

/** The pattern that tells what is in progress from what is done, without colour. Once on a page. */
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
export function StandingBar({ enrollments, notStarted, inProgress, completed }: Standing) {
  const told = `${counted(completed)} completed, ${counted(inProgress)} in progress, ${counted(notStarted)} not started`
  const part = (count: number) => (enrollments === 0 ? 0 : (100 * count) / enrollments)
  return (
    <svg class="bar" role="img" width="100%" height="16">
      <title>{enrollments === 0 ? 'nobody is enrolled' : told}</title>
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
