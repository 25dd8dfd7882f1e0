import type { Child } from 'hono/jsx'

export interface Column {
  readonly name: string
  /** Layout: numbers, flush right; numbers below a long heading; a bar; or long text, such as a URL. */
  readonly look?: 'figures' | 'score' | 'drawn' | 'broad'
  /** True for a heading that is for screen readers only. */
  readonly unseen?: true
  readonly sorting?: { readonly href: string; readonly now: 'ascending' | 'descending' | undefined }
}

export function figureColumns(...names: readonly string[]): readonly Column[] {
  return names.map((name) => ({ name, look: 'figures' }))
}

// Narrow screens show rows as blocks, not tables, so screen readers need the roles.
const [table, rowgroup, row, columnheader, rowheader, cell] = [
  'table',
  'rowgroup',
  'row',
  'columnheader',
  'rowheader',
  'cell',
].map((role) => ({ role }))

export function Table({
  caption,
  columns,
  rows,
}: {
  caption: string
  columns: readonly Column[]
  rows: readonly (readonly Child[])[]
}) {
  return (
    <table {...table}>
      <caption>{caption}</caption>
      <thead {...rowgroup} class={columns.some(({ sorting }) => sorting) ? 'sorting' : undefined}>
        <tr {...row}>
          {columns.map((column) => (
            <th {...columnheader} scope="col" class={column.look} aria-sort={column.sorting?.now}>
              {column.sorting ? <a href={column.sorting.href}>{column.name}</a> : null}
              {column.unseen ? <span class="unseen">{column.name}</span> : null}
              {column.sorting || column.unseen ? null : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...rowgroup}>
        {rows.map((cells) => (
          <tr {...row}>
            {cells.map((content, index) => {
              const { name = '', unseen, look } = columns[index] ?? {}
              if (index === 0) {
                return (
                  <th {...rowheader} scope="row">
                    {content}
                  </th>
                )
              }
              return (
                <td {...cell} class={look} data-column={unseen ? undefined : name}>
                  {content}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function Card({
  id,
  title,
  isShort,
  isUnseen,
  children,
}: {
  id: string
  title: string
  isShort?: boolean
  isUnseen?: boolean
  children: Child
}) {
  return (
    <section class={isShort ? 'card short' : 'card'} aria-labelledby={id}>
      <h2 id={id} class={isUnseen ? 'unseen' : undefined}>
        {title}
      </h2>
      {children}
    </section>
  )
}

/** Leaves out entries that are false. */
export function figureTiles(
  figures: readonly (readonly [name: string, figure: string] | false)[],
  label?: string,
): Child {
  return (
    <dl class="tiles" aria-label={label}>
      {figures.map((figure) =>
        figure === false ? null : (
          <div>
            <dt>{figure[0]}</dt>
            <dd>{figure[1]}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

// Drawings are SVG whose widths are percentages, so that they fit any page without scripts, and without distorted text. What
// they show is also in their texts: patterns and numbers tell their parts apart, not colours alone.

interface ChartColumn {
  readonly count: number
  readonly value: string
  /** Its name, before the count in its tooltip and in the text of the chart. */
  readonly name: string
  /** Text below the column; default: the name. */
  readonly label?: string
  /** Shorter text below it on narrow screens; default: the label. */
  readonly slimLabel?: string
  /** Text of the tooltip, such as `3 enrolments` (default: the value). */
  readonly counted?: string
}

// In px from the top: the tallest column (its number is above), and the distances of the base line and the labels.
const top = 24
const belowLine = 20

/** Columns with so few neighbours all have their number and label. */
const maxLabelled = 16
/** Labels below more columns than that, and long labels below any on narrow screens. */
const [maxTicks, maxSlimTicks] = [6, 4]
/** Characters of a label or number that fits one of ten columns on a narrow screen. */
const maxSlimLength = 3

/** Columns side by side, each with its number, or the highest and the last if there are many. */
export function ColumnChart({
  id,
  title,
  columns,
  look,
  line = 144,
}: {
  /** Prefix of the ids of its texts. */
  id: string
  title: string
  columns: readonly ChartColumn[]
  look: 'done' | 'doing'
  /** Height of the base line in px from the top. */
  line?: number
}) {
  const highest = Math.max(1, ...columns.map(({ count }) => count))
  const width = 100 / columns.length
  const outstanding = outstandingColumns(columns)
  const numbered = columns.length <= maxLabelled ? new Set(columns.keys()) : outstanding
  const step = columns.length <= maxLabelled ? 1 : Math.ceil(columns.length / maxTicks)
  const isSlim = columns.every((column) => slimLabelOf(column).length <= maxSlimLength)
  const slimStep = isSlim ? 1 : Math.ceil(columns.length / maxSlimTicks)
  return (
    <svg
      class="columns"
      role="img"
      aria-labelledby={`${id}-title ${id}-told`}
      width="100%"
      height={line + belowLine + 8}
    >
      <title id={`${id}-title`}>{title}</title>
      <desc id={`${id}-told`}>{`${columns.map(({ name, value }) => `${name}: ${value}`).join('; ')}.`}</desc>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group is not focusable; desc above has the text */}
      <g aria-hidden="true">
        {columns.map((column, index) => {
          const { count, value, name, label = name, counted = value } = column
          const height = ((line - top) * count) / highest
          const middle = `${(index + 0.5) * width}%`
          return (
            <>
              <svg x={`${index * width}%`} width={`${width}%`} height={line} overflow="visible">
                <title>{`${name}: ${counted}`}</title>
                <rect class="whole" width="100%" height={line} />
                {count === 0 ? null : (
                  <rect class={look} x="14%" y={line - height} width="72%" height={height} />
                )}
                {numbered.has(index) ? (
                  <text
                    class={`${count === 0 ? 'few' : ''}${value.length > maxSlimLength && !outstanding.has(index) ? ' wide' : ''}`}
                    x="50%"
                    y={line - height - 7}
                  >
                    {value}
                  </text>
                ) : null}
              </svg>
              {index % step === 0 ? (
                <text class="few wide" x={middle} y={line + belowLine}>
                  {label}
                </text>
              ) : null}
              {index % slimStep === 0 ? (
                <text class="few slim" x={middle} y={line + belowLine}>
                  {slimLabelOf(column)}
                </text>
              ) : null}
            </>
          )
        })}
      </g>
      <line class="axis" x1="0" x2="100%" y1={line + 0.5} y2={line + 0.5} />
    </svg>
  )
}

function slimLabelOf({ name, label = name, slimLabel = label }: ChartColumn): string {
  return slimLabel
}

/** Returns the columns that always have their number: the highest, and the last unless it is close to that. */
function outstandingColumns(columns: readonly ChartColumn[]): ReadonlySet<number> {
  const last = columns.length - 1
  const highest = columns.reduce(
    (best, { count }, index) => (count > (columns[best]?.count ?? 0) ? index : best),
    0,
  )
  return new Set(last - highest > columns.length / 8 ? [highest, last] : [highest])
}

/** Completed is solid, in progress hatched, and the rest empty. Values are percentages. */
export function statusBar(title: string, completed: number, inProgress: number, height = 16): Child {
  return (
    <svg class="bar" role="img" width="100%" height={height}>
      <title>{title}</title>
      <rect class="doing" width={`${completed + inProgress}%`} height="100%" />
      <rect class="done" width={`${completed}%`} height="100%" />
    </svg>
  )
}

/** Half the width of the mark of a median, in per cent of the scale. */
const halfMark = 0.75

/** The middle half of grades as a hatched bar with a mark at the median, on a scale from 0 to 100. */
export function spreadBar(title: string, lower: number, median: number, upper: number): Child {
  // Grades above the maximum end at the edge.
  const at = (value: number) => Math.min(100, Math.max(0, value))
  return (
    <svg class="spread" role="img" width="100%" height="18">
      <title>{title}</title>
      {[0, 50, 100].map((place) => (
        <line class="axis" x1={`${place}%`} x2={`${place}%`} y1="0" y2="18" />
      ))}
      <line class="axis" x1="0" x2="100%" y1="9" y2="9" />
      <rect class="doing" x={`${at(lower)}%`} y="3" width={`${at(upper) - at(lower)}%`} height="12" />
      <rect
        class="done"
        x={`${Math.min(100 - 2 * halfMark, Math.max(0, at(median) - halfMark))}%`}
        y="0"
        width={`${2 * halfMark}%`}
        height="18"
      />
    </svg>
  )
}

export function shareBar(title: string, share: number): Child {
  return (
    <svg class="bar" role="img" width="100%" height="14">
      <title>{title}</title>
      <rect class="done" width={`${Math.min(100, share)}%`} height="100%" />
    </svg>
  )
}

export function statusKey(
  ...words: readonly [completed: Child, inProgress: Child, notStarted: Child]
): Child {
  const looks = ['done', 'doing', '']
  return (
    <ul class="key">
      {words.map((word, index) => (
        <li>
          <svg class="bar" width="22" height="14" aria-hidden="true">
            {looks[index] ? <rect class={looks[index]} width="100%" height="100%" /> : null}
          </svg>
          <span>{word}</span>
        </li>
      ))}
    </ul>
  )
}

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
