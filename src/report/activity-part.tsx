import { ColumnChart } from './drawings.tsx'
import type { ActivityPeriod } from './figures.ts'
import type { PartProps } from './format.ts'
import { Table } from './table.tsx'

const measures = ['activeLearners', 'completions', 'grades'] as const

/** Activity over time: a chart for each measure, one below the other, with the same numbers as a table. */
export function ActivityPart({ figures: { activity, start, end }, formats }: PartProps) {
  const { words, count, shortPeriod, day, period } = formats
  const { by, data } = activity
  const names = {
    activeLearners: words.activeLearners,
    completions: words.completions,
    grades: words.gradesGiven,
  }
  const isEmpty = data.every(({ progressUpdates, ...row }) =>
    measures.every((measure) => row[measure] === 0 && progressUpdates === 0),
  )
  return (
    <section class="card" aria-labelledby="activity">
      <h2 id="activity">
        {words.activity} {words.perUnit[by]}
      </h2>
      {isEmpty ? (
        <p>{words.noActivity(period(start, end))}</p>
      ) : (
        <>
          {measures.map((measure) =>
            data.every((row) => row[measure] === 0) ? null : (
              <figure class="trend" aria-labelledby={`${measure}-caption`}>
                <h3 id={`${measure}-caption`}>{names[measure]}</h3>
                <ColumnChart
                  id={measure}
                  title={`${names[measure]} ${words.perUnit[by]}`}
                  description={`${data.map((row) => `${day(row.start)}: ${count(row[measure])}`).join('; ')}.`}
                  columns={data.map((row: ActivityPeriod) => ({
                    count: row[measure],
                    value: count(row[measure]),
                    label: shortPeriod(row.start, by),
                    slimLabel: shortPeriod(row.start, by),
                    title: `${day(row.start)}: ${count(row[measure])}`,
                  }))}
                  look="done"
                  line={104}
                />
              </figure>
            ),
          )}
          <details>
            <summary>{words.showTable}</summary>
            <Table
              caption={`${words.activity} ${words.perUnit[by]}`}
              columns={[
                { name: words.unit[by] },
                ...[words.activeLearners, words.progressUpdates, words.completions, words.gradesGiven].map(
                  (name) => ({ name, look: 'figures' as const }),
                ),
              ]}
              rows={data.map((row) => [
                by === 'month' ? shortPeriod(row.start, by) : day(row.start),
                count(row.activeLearners),
                count(row.progressUpdates),
                count(row.completions),
                count(row.grades),
              ])}
            />
          </details>
        </>
      )}
    </section>
  )
}
