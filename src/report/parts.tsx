import type { Child } from 'hono/jsx'
import type { Bucket, Report } from '../contract/analytics.ts'
import { attentionDays, stuckBelow } from '../contract/constants.ts'
import type { ItemGrades } from '../contract/questions.ts'
import { Card, ColumnChart, figureColumns, shareBar, spreadBar, statusBar, Table } from './elements.tsx'
import { type Formats, itemNameOf, type PartProps, titleOf } from './format.ts'

const measures = ['activeLearners', 'completions', 'grades'] as const

export function ActivityPart({
  figures: { activity, start, end },
  formats,
}: Pick<PartProps, 'formats'> & { readonly figures: Pick<Report, 'activity' | 'start' | 'end'> }) {
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
    <Card id="activity" title={`${words.activity} ${words.perUnit[by]}`}>
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
                  columns={data.map((row) => ({
                    count: row[measure],
                    value: count(row[measure]),
                    name: day(row.start),
                    label: shortPeriod(row.start, by),
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
                ...figureColumns(
                  words.activeLearners,
                  words.progressUpdates,
                  words.completions,
                  words.gradesGiven,
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
    </Card>
  )
}

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
  const nameOf = (item: ItemGrades) => itemNameOf(item, formats)
  const rows =
    isOneCourse && hidden === 0
      ? shown.toSorted((one, other) => names.compare(nameOf(one), nameOf(other)))
      : shown
  if (summary.graded === 0 && items.length === 0) {
    return (
      <Card id="grades" title={words.grades}>
        <p>{words.noGrades}</p>
      </Card>
    )
  }
  return (
    <Card id="grades" title={words.grades}>
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
              ...figureColumns(words.count, words.middleHalf, words.median, words.passRate),
            ]}
            rows={rows.map((item) => {
              const { lowerQuartile: lower, median, upperQuartile: upper } = item
              return [
                <>
                  <bdi>{titleOf(nameOf(item))}</bdi>
                  {isOneCourse ? null : <small>{nameOfCourse(item)}</small>}
                </>,
                spreadBar(
                  words.spreadOf(percent(lower), percent(median), percent(upper)),
                  lower,
                  median,
                  upper,
                ),
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
    </Card>
  )
}

/** In display order, with the words of a report. */
const reasons = ['inactive', 'stuck', 'notPassed'] as const
type Reason = (typeof reasons)[number]

const maxCourses = 500
const maxConcerned = 20

export function AttentionPart({ figures, formats, courseUrl }: PartProps) {
  const { words, count, percent, wholePercent, day } = formats
  const { attention, summary, generatedAt } = figures
  // Without grades there is no pass or fail.
  const shown = reasons.filter((reason) => reason !== 'notPassed' || summary.graded > 0)
  const total = (reason: Reason) => attention.reduce((sum, course) => sum + course[reason], 0)
  const share = (number: number) => (100 * number) / summary.enrollments
  const names = { inactive: words.inactive, stuck: words.stuck, notPassed: words.notPassed }
  const days = count(attentionDays)
  const meanings = {
    inactive: words.inactiveMeans(days),
    stuck: words.stuckMeans(wholePercent(stuckBelow), days),
    notPassed: words.notPassedMeans,
  }
  const sum = (course: (typeof attention)[number]) => course.inactive + course.stuck + course.notPassed
  const concerned = attention
    .filter((course) => sum(course) > 0)
    .toSorted((one, other) => other.inactive - one.inactive || sum(other) - sum(one))
  const nameOf = courseNames(figures, courseUrl)
  const more = concerned.length - maxConcerned
  return (
    <Card id="attention" title={words.attention}>
      <p class="part-note">{words.attentionNote(day(generatedAt))}</p>
      {concerned.length === 0 ? (
        <p>{words.noAttention}</p>
      ) : (
        <Table
          caption={words.attention}
          columns={[
            { name: words.reason },
            { name: words.share, look: 'drawn' },
            ...figureColumns(words.learners, words.share),
          ]}
          rows={shown.map((reason) => [
            <>
              {names[reason]} <small>{meanings[reason]}</small>
            </>,
            shareBar(percent(share(total(reason))), share(total(reason))),
            count(total(reason)),
            percent(share(total(reason))),
          ])}
        />
      )}
      {concerned.length === 0 || summary.byCourse.length === 1 ? null : (
        <>
          <h3>{words.attentionByCourse}</h3>
          <Table
            caption={words.attentionByCourse}
            columns={[{ name: words.course }, ...figureColumns(...shown.map((reason) => names[reason]))]}
            rows={concerned
              .slice(0, maxConcerned)
              .map((course) => [nameOf(course), ...shown.map((reason) => count(course[reason]))])}
          />
          {more > 0 ? <p class="note">{words.moreCourses(more, count(more))}</p> : null}
        </>
      )}
    </Card>
  )
}

/** Highest completion first; empty for a single course, whose figures stand above. */
export function ComparisonPart({ figures, formats, courseUrl }: PartProps) {
  const { words, count, percent } = formats
  const { byCourse } = figures.summary
  if (byCourse.length === 1) return null
  const inactiveByCourse = new Map(figures.attention.map(({ courseId, inactive }) => [courseId, inactive]))
  const nameOf = courseNames(figures, courseUrl)
  const sorted = byCourse.toSorted(
    (one, other) => (other.completionPercentage ?? -1) - (one.completionPercentage ?? -1),
  )
  const more = sorted.length - maxCourses
  return (
    <Card id="comparison" title={words.comparison}>
      <p class="part-note">{words.comparisonNote}</p>
      <Table
        caption={words.comparison}
        columns={[
          { name: words.course },
          { name: words.completion, look: 'drawn' },
          ...figureColumns(
            words.enrollments,
            words.completed,
            words.averageGrade,
            words.passRate,
            words.inactive,
          ),
        ]}
        rows={sorted.slice(0, maxCourses).map((course) => {
          const { enrollments, completed, inProgress, notStarted } = course
          const part = (number: number) => (enrollments === 0 ? 0 : (100 * number) / enrollments)
          return [
            nameOf(course),
            statusBar(
              words.standingOf(count(completed), count(inProgress), count(notStarted)),
              part(completed),
              part(inProgress),
            ),
            count(enrollments),
            percent(course.completionPercentage),
            percent(course.averageGradePercent),
            percent(course.passRate),
            count(inactiveByCourse.get(course.courseId) ?? 0),
          ]
        })}
      />
      {more > 0 ? <p class="note">{words.moreCourses(more, count(more))}</p> : null}
    </Card>
  )
}

/** Returns a function that names a course, with its external id or id if another course has the same title. */
function courseNames(
  { summary, attention }: PartProps['figures'],
  courseUrl: PartProps['courseUrl'],
): (course: { readonly courseId: string; readonly courseTitle: string }) => Child {
  const externalIds = new Map(attention.map(({ courseId, courseExternalId }) => [courseId, courseExternalId]))
  const titles = Map.groupBy(summary.byCourse, ({ courseTitle }) => titleOf(courseTitle))
  return ({ courseId, courseTitle }) => {
    const title = titleOf(courseTitle)
    const isAlone = (titles.get(title)?.length ?? 1) === 1
    const name = <bdi>{isAlone ? title : `${title} (${titleOf(externalIds.get(courseId) ?? courseId)})`}</bdi>
    return courseUrl ? <a href={courseUrl(courseId)}>{name}</a> : name
  }
}

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
        columns={rows.map((row) => ({
          count: row.count,
          value: count(row.count),
          name: row.range,
          slimLabel: row.to === null ? `>${row.from}` : String(row.from),
        }))}
        look="done"
      />
      <details>
        <summary>{words.showTable}</summary>
        <Table
          caption={note}
          columns={[{ name: rangeName }, ...figureColumns(countName, words.share)]}
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
