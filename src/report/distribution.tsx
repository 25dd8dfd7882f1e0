import { ColumnChart } from './drawings.tsx'
import type { Bucket } from './figures.ts'
import type { Formats } from './format.ts'
import { Table } from './table.tsx'

/** A histogram of enrolments by percentage, with the same numbers as a table. */
export function Distribution({
  id,
  note,
  rangeName,
  countName,
  buckets,
  formats,
}: {
  id: string
  note: string
  rangeName: string
  countName: string
  buckets: readonly Bucket[]
  formats: Formats
}) {
  const { words, count, percent } = formats
  // The range above 100% is unusual: it is shown if it has any.
  const shown = buckets.filter((bucket) => bucket.to !== null || bucket.count > 0)
  const all = shown.reduce((sum, bucket) => sum + bucket.count, 0)
  const rows = shown.map((bucket) => ({ ...bucket, range: rangeOf(bucket, formats) }))
  return (
    <figure aria-labelledby={`${id}-note`}>
      <figcaption id={`${id}-note`} class="part-note">
        {note}
      </figcaption>
      <ColumnChart
        id={id}
        title={note}
        description={`${rows.map((row) => `${row.range}: ${count(row.count)}`).join('; ')}.`}
        columns={rows.map((row) => ({
          count: row.count,
          value: count(row.count),
          label: row.range,
          slimLabel: row.to === null ? `>${row.from}` : String(row.from),
          title: `${row.range}: ${count(row.count)}`,
        }))}
        look="done"
      />
      <details>
        <summary>{words.showTable}</summary>
        <Table
          caption={note}
          columns={[
            { name: rangeName },
            { name: countName, look: 'figures' },
            { name: words.share, look: 'figures' },
          ]}
          rows={rows.map((row) => [
            row.range,
            count(row.count),
            percent(all === 0 ? null : (100 * row.count) / all),
          ])}
        />
      </details>
    </figure>
  )
}

/** Returns a range in whole percentages: 0–9%, 90–100%. */
function rangeOf({ from, to }: Bucket, { words, wholePercent }: Formats): string {
  if (to === null) return words.above(wholePercent(Math.floor(from)))
  return `${from}–${wholePercent(to === 100 ? to : to - 1)}`
}
