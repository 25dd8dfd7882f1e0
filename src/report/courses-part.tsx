import type { Child } from 'hono/jsx'
import { ShareBar, StatusBar } from './drawings.tsx'
import { type Reason, type ReportFigures, type ReportOptions, reasons } from './figures.ts'
import { inactiveDays, stuckBelow } from './findings.ts'
import { type PartProps, titleOf } from './format.ts'
import { Table } from './table.tsx'

/** Maximum courses that are compared. */
const maxCourses = 500
/** Maximum courses in the table of learners who may need help. */
const maxConcerned = 20

/** Learners who may need help: how many, why, and in which courses. */
export function AttentionPart({ figures, formats, courseUrl }: PartProps) {
  const { words, count, percent, wholePercent, day } = formats
  const { attention, summary, generatedAt } = figures
  // Without grades there is no pass or fail.
  const shown = reasons.filter((reason) => reason !== 'notPassed' || summary.graded > 0)
  const total = (reason: Reason) => attention.reduce((sum, course) => sum + course[reason], 0)
  const share = (number: number) => (100 * number) / summary.enrollments
  const names = { inactive: words.inactive, stuck: words.stuck, notPassed: words.notPassed }
  const days = count(inactiveDays)
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
    <section class="card" aria-labelledby="attention">
      <h2 id="attention">{words.attention}</h2>
      <p class="part-note">{words.attentionNote(day(generatedAt))}</p>
      {concerned.length === 0 ? (
        <p>{words.noAttention}</p>
      ) : (
        <Table
          caption={words.attention}
          columns={[
            { name: words.reason },
            { name: words.share, look: 'drawn' },
            { name: words.learners, look: 'figures' },
            { name: words.share, look: 'figures' },
          ]}
          rows={shown.map((reason) => [
            <>
              {names[reason]} <small>{meanings[reason]}</small>
            </>,
            <ShareBar title={percent(share(total(reason)))} share={share(total(reason))} />,
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
            columns={[
              { name: words.course },
              ...shown.map((reason) => ({ name: names[reason], look: 'figures' as const })),
            ]}
            rows={concerned
              .slice(0, maxConcerned)
              .map((course) => [nameOf(course), ...shown.map((reason) => count(course[reason]))])}
          />
          {more > 0 ? <p class="note">{words.moreCourses(more, count(more))}</p> : null}
        </>
      )}
    </section>
  )
}

/** All courses in one table, highest completion first; nothing for a single one, whose figures stand above. */
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
    <section class="card" aria-labelledby="comparison">
      <h2 id="comparison">{words.comparison}</h2>
      <p class="part-note">{words.comparisonNote}</p>
      <Table
        caption={words.comparison}
        columns={[
          { name: words.course },
          { name: words.completion, look: 'drawn' },
          { name: words.enrollments, look: 'figures' },
          { name: words.completed, look: 'figures' },
          { name: words.averageGrade, look: 'figures' },
          { name: words.passRate, look: 'figures' },
          { name: words.inactive, look: 'figures' },
        ]}
        rows={sorted.slice(0, maxCourses).map((course) => {
          const { enrollments, completed, inProgress, notStarted } = course
          const part = (number: number) => (enrollments === 0 ? 0 : (100 * number) / enrollments)
          return [
            nameOf(course),
            <StatusBar
              title={words.standingOf(count(completed), count(inProgress), count(notStarted))}
              completed={part(completed)}
              inProgress={part(inProgress)}
            />,
            count(enrollments),
            percent(course.completionPercentage),
            percent(course.averageGradePercent),
            percent(course.passRate),
            count(inactiveByCourse.get(course.courseId) ?? 0),
          ]
        })}
      />
      {more > 0 ? <p class="note">{words.moreCourses(more, count(more))}</p> : null}
    </section>
  )
}

/** Returns a function that names a course, with its external id or id if another course has the same title. */
export function courseNames(
  { summary, attention }: ReportFigures,
  courseUrl: ReportOptions['courseUrl'],
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
