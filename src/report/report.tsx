import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { Report as ReportFigures } from '../contract/analytics.ts'
import { attentionDays } from '../contract/constants.ts'
import type { Activity } from '../contract/questions.ts'
import { Card, figureTiles, Hatching, statusBar, statusKey } from './elements.tsx'
import {
  type Formats,
  formatsOf,
  itemNameOf,
  type PartProps,
  type ReportOptions,
  titleInSentence,
  titleOf,
} from './format.ts'
import { ActivityPart, AttentionPart, ComparisonPart, Distribution, GradesPart } from './parts.tsx'
import { documentStyle } from './style.ts'

/** Allows the styles of the file, and nothing that runs or is loaded (CSP Level 3 §3.3). */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Needs no other files, no network and no scripts. */
export function reportDocument(figures: ReportFigures, options: ReportOptions): string {
  const html = (
    <html lang={formatsOf(options.language).language}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>{reportTitle(figures, options)}</title>
        <style>{raw(documentStyle)}</style>
      </head>
      <body>
        <Hatching />
        <main>
          <Report figures={figures} options={options} />
        </main>
      </body>
    </html>
  )
  return `<!DOCTYPE html>\n${html}\n`
}

/** Returns the title of a report: the given one, that of its only course, or the words for a report. */
export function reportTitle({ summary }: ReportFigures, { title, language }: ReportOptions): string {
  if (title !== undefined) return titleOf(title)
  const [only, ...others] = summary.byCourse
  const { words } = formatsOf(language)
  return only && others.length === 0 ? titleOf(only.courseTitle) : words.title
}

export function Report({
  figures,
  options,
  children,
}: {
  figures: ReportFigures
  options: ReportOptions
  children?: Child
}) {
  const formats = formatsOf(options.language, figures.activity.timeZone)
  const { words } = formats
  const { summary } = figures
  const part = { figures, formats, courseUrl: options.courseUrl }
  return (
    <article class="report" lang={formats.language}>
      <h1>
        <bdi>{reportTitle(figures, options)}</bdi>
      </h1>
      <p class="about">{aboutOf(figures, formats)}</p>
      {children}
      <Card id="stand-out" title={words.standOut}>
        {summary.enrollments === 0 ? (
          <p>{words.noLearners}</p>
        ) : (
          <ul class="findings">
            {findingsOf(figures, formats).map(({ figure, text }) => (
              <li>
                <strong>{figure}</strong> <span>{text}</span>
              </li>
            ))}
          </ul>
        )}
      </Card>
      {summary.enrollments === 0 ? null : (
        <>
          {keyFigures(part)}
          <CompletionPart {...part} />
          <ActivityPart {...part} />
          <GradesPart {...part} />
          <AttentionPart {...part} />
          <ComparisonPart {...part} />
          <p class="foot">{words.footnote}</p>
        </>
      )}
    </article>
  )
}

function aboutOf({ summary, start, end, generatedAt }: ReportFigures, formats: Formats): string {
  const { words, count, day, period } = formats
  const { learners, enrollments, byCourse } = summary
  return [
    words.courses(byCourse.length, count(byCourse.length)),
    learners === null
      ? words.enrollmentsCounted(enrollments, count(enrollments))
      : words.learnersCounted(learners, count(learners)),
    words.activityIn(period(start, end)),
    words.asOf(day(generatedAt)),
  ].join(' · ')
}

function keyFigures({
  figures: { summary, attention },
  formats: { words, count, percent },
}: PartProps): Child {
  const { learners, enrollments, completionPercentage, passRate, medianGradePercent } = summary
  const inactive = attention.reduce((sum, course) => sum + course.inactive, 0)
  return figureTiles(
    [
      learners !== null && [words.learners, count(learners)],
      [words.enrollments, count(enrollments)],
      [words.completed, percent(completionPercentage)],
      passRate !== null && [words.passRate, percent(passRate)],
      medianGradePercent !== null && [words.medianGrade, percent(medianGradePercent)],
      [words.inactive, count(inactive)],
    ],
    words.figures,
  )
}

function CompletionPart({ figures: { summary }, formats }: PartProps) {
  const { words, count, percent } = formats
  const { enrollments, completed, inProgress, notStarted, completionDistribution } = summary
  const part = (number: number) => (100 * number) / enrollments
  const word = (name: string, number: number): Child => (
    <>
      {name} <strong>{count(number)}</strong> {percent(part(number))}
    </>
  )
  return (
    <Card id="completion" title={words.completion}>
      {statusBar(
        words.standingOf(count(completed), count(inProgress), count(notStarted)),
        part(completed),
        part(inProgress),
        28,
      )}
      {statusKey(
        word(words.completed, completed),
        word(words.inProgress, inProgress),
        word(words.notStarted, notStarted),
      )}
      <Distribution
        id="by-completion"
        note={words.completionNote}
        rangeName={words.completionRange}
        countName={words.enrollments}
        buckets={completionDistribution}
        formats={formats}
      />
    </Card>
  )
}

export interface Finding {
  readonly figure: string
  readonly text: string
}

/** Minimum grades for a pass rate that is worth a sentence: one failure among two learners says nothing. */
const minGraded = 5

/** Largest growth that is said as a percentage: +4,000% says less than both numbers. */
const maxRatio = 2

/** Returns what stands out, most important first; nothing without enrolments. */
export function findingsOf(figures: ReportFigures, formats: Formats): Finding[] {
  if (figures.summary.enrollments === 0) return []
  return [
    completion(figures, formats),
    activity(figures, formats),
    ...passRate(figures, formats),
    ...inactive(figures, formats),
    ...lowestItem(figures, formats),
    ...lowestCompletion(figures, formats),
  ]
}

function completion({ summary }: ReportFigures, { words, count, roughPercent }: Formats): Finding {
  const { completionPercentage, completed, enrollments, notStarted } = summary
  return {
    figure: roughPercent(completionPercentage ?? 0),
    text: words.findings.completion(count(completed), count(enrollments), count(notStarted)),
  }
}

function activity({ activity: now, activityBefore, start, end }: ReportFigures, formats: Formats): Finding {
  const { words, count, change, period } = formats
  const [mean, before] = [meanActive(now, end), meanActive(activityBefore, end)]
  const [shown, shownBefore] = [count(roundUpFromZero(mean)), count(roundUpFromZero(before))]
  const { findings } = words
  if (mean === 0) {
    return {
      figure: count(0),
      text:
        before === 0 ? findings.noActivity(period(start, end)) : findings.activityEnded(shownBefore, now.by),
    }
  }
  if (before === 0) return { figure: shown, text: findings.activityBegan(now.by) }
  const ratio = mean / before - 1
  if (ratio > maxRatio) return { figure: shown, text: findings.activityGrew(shownBefore, now.by) }
  return {
    figure: change(ratio),
    text: findings.activityChanged(shown, shownBefore, now.by),
  }
}

/**
 * Returns the mean number of active learners in a day, week or month: of the complete ones, if any of them has activity, because
 * the first and the last may be cut by the period, or not have ended yet.
 */
function meanActive({ by, data }: Activity, reportEnd: string): number {
  const shortestMs = { day: 23, week: 7 * 24 - 1, month: 28 * 24 - 1 }[by] * 60 * 60 * 1000
  const complete = data.filter(
    ({ start, end }) => end <= reportEnd && Date.parse(end) - Date.parse(start) >= shortestMs,
  )
  const counted = complete.some(({ activeLearners }) => activeLearners > 0) ? complete : data
  if (counted.length === 0) return 0
  return counted.reduce((sum, { activeLearners }) => sum + activeLearners, 0) / counted.length
}

/** A mean below 1 is 1, because 0 would say that there was no activity. */
function roundUpFromZero(mean: number): number {
  return mean > 0 ? Math.max(1, Math.round(mean)) : 0
}

/** Returns the lowest pass rate of several courses, or that of the only one. */
function passRate({ summary }: ReportFigures, { words, count, percent, roughPercent }: Formats): Finding[] {
  const { findings } = words
  const { passRate: overall, passed, graded, byCourse } = summary
  if (overall === null) return []
  const rated = byCourse.filter((course) => course.passRate !== null && course.graded >= minGraded)
  const [lowest, highest] = extremes(rated, (course) => course.passRate ?? 0)
  if (!lowest || lowest.passRate === highest?.passRate) {
    return [{ figure: roughPercent(overall), text: findings.passRate(count(passed), count(graded)) }]
  }
  const text = findings.lowestPassRate(
    titleInSentence(lowest.courseTitle),
    count(lowest.passed),
    count(lowest.graded),
    percent(overall),
  )
  return [{ figure: roughPercent(lowest.passRate ?? 0), text }]
}

function inactive({ summary, attention }: ReportFigures, { words, count, roughPercent }: Formats): Finding[] {
  const all = attention.reduce((sum, course) => sum + course.inactive, 0)
  if (all === 0) return []
  const [, most] = extremes(attention, (course) => course.inactive)
  const isMost = most && attention.length > 1 && most.inactive * 2 > all
  const { findings } = words
  const text =
    findings.inactive(count(all), count(summary.enrollments), count(attentionDays)) +
    (isMost ? findings.inactiveMostly(titleInSentence(most.courseTitle), count(most.inactive)) : '')
  return [{ figure: roughPercent((100 * all) / summary.enrollments), text }]
}

function lowestItem({ items }: ReportFigures, formats: Formats): Finding[] {
  const { words, percent, roughPercent } = formats
  const rated = items.filter(({ count }) => count >= minGraded)
  const [lowest, highest] = extremes(rated, (item) => item.passRate)
  if (!lowest || lowest.passRate === highest?.passRate) return []
  const text = words.findings.lowestItem(
    titleInSentence(itemNameOf(lowest, formats)),
    titleInSentence(lowest.courseTitle),
    percent(lowest.median),
  )
  return [{ figure: roughPercent(lowest.passRate), text }]
}

function lowestCompletion({ summary }: ReportFigures, { words, percent, roughPercent }: Formats): Finding[] {
  const completionOf = (course: ReportFigures['summary']['byCourse'][number]) =>
    course.completionPercentage ?? 0
  const enrolled = summary.byCourse.filter(({ enrollments }) => enrollments >= minGraded)
  const [lowest, highest] = extremes(enrolled, completionOf)
  if (!lowest || !highest || completionOf(lowest) === completionOf(highest)) return []
  const text = words.findings.lowestCompletion(
    titleInSentence(lowest.courseTitle),
    titleInSentence(highest.courseTitle),
    percent(completionOf(highest)),
  )
  return [{ figure: roughPercent(completionOf(lowest)), text }]
}

function extremes<One>(
  all: readonly One[],
  measure: (one: One) => number,
): readonly [lowest: One | undefined, highest: One | undefined] {
  const ordered = all.toSorted((one, other) => measure(one) - measure(other))
  const highest = ordered.at(-1)
  return [ordered[0], highest && ordered.find((one) => measure(one) === measure(highest))]
}
