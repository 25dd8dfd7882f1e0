import { courseNames } from './courses-part.tsx'
import { Distribution } from './distribution.tsx'
import { SpreadBar } from './drawings.tsx'
import type { ItemFigures } from './figures.ts'
import { itemNameOf, type PartProps, titleOf } from './format.ts'
import { Table } from './table.tsx'

/** Maximum items that are shown: of one course, and the lowest of several. */
const [maxOwnItems, maxLowest] = [60, 15]

const names = new Intl.Collator('en', { numeric: true })

/** Grades of courses as a histogram, then the items with the lowest pass rates: those of one course by name. */
export function GradesPart({ figures, formats, courseUrl }: PartProps) {
  const { words, count, percent, wholePercent } = formats
  const { summary, items, moreItems } = figures
  const isOneCourse =
    new Set(items.map(({ courseId }) => courseId)).size === 1 && summary.byCourse.length === 1
  const shown = items.slice(0, isOneCourse ? maxOwnItems : maxLowest)
  const hidden = moreItems + items.length - shown.length
  const nameOfCourse = courseNames(figures, courseUrl)
  const nameOf = (item: ItemFigures) => itemNameOf(item, formats)
  const rows =
    isOneCourse && hidden === 0
      ? shown.toSorted((one, other) => names.compare(nameOf(one), nameOf(other)))
      : shown
  if (summary.graded === 0 && items.length === 0) {
    return (
      <section class="card" aria-labelledby="grades">
        <h2 id="grades">{words.grades}</h2>
        <p>{words.noGrades}</p>
      </section>
    )
  }
  return (
    <section class="card" aria-labelledby="grades">
      <h2 id="grades">{words.grades}</h2>
      {summary.graded === 0 ? null : (
        <Distribution
          id="by-grade"
          note={words.gradesNote}
          rangeName={words.gradeRange}
          countName={words.enrollments}
          buckets={summary.gradeDistribution}
          formats={formats}
        />
      )}
      {rows.length === 0 ? null : (
        <>
          <h3 id="items">{words.items}</h3>
          <p class="part-note">{words.itemsNote}</p>
          <Table
            caption={words.items}
            columns={[
              { name: words.item },
              { name: words.spread, look: 'drawn' },
              { name: words.count, look: 'figures' },
              { name: words.middleHalf, look: 'figures' },
              { name: words.median, look: 'figures' },
              { name: words.passRate, look: 'figures' },
            ]}
            rows={rows.map((item) => {
              const { lowerQuartile: lower, median, upperQuartile: upper } = item
              return [
                <>
                  <bdi>{titleOf(nameOf(item))}</bdi>
                  {isOneCourse ? null : <small>{nameOfCourse(item)}</small>}
                </>,
                <SpreadBar
                  title={words.spreadOf(percent(lower), percent(median), percent(upper))}
                  {...{ lower, median, upper }}
                />,
                count(item.count),
                `${count(Math.round(lower))}–${wholePercent(Math.round(upper))}`,
                percent(median),
                percent(item.passRate),
              ]
            })}
          />
          {hidden === 0 ? null : <p class="note">{words.moreItems(hidden, count(hidden))}</p>}
        </>
      )}
    </section>
  )
}
