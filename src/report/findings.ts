import type { Report } from '../contract/analytics.ts'
import { attentionDays } from '../contract/constants.ts'
import type { Activity } from '../contract/questions.ts'
import { type Formats, itemNameOf, titleInSentence } from './format.ts'

/** A sentence that begins with its figure. */
export interface Finding {
  readonly figure: string
  readonly text: string
}

/** Minimum grades for a pass rate that is worth a sentence: one failure among two learners says nothing. */
const minGraded = 5

/** Largest growth that is said as a percentage: +4,000% says less than both numbers. */
const maxRatio = 2

/** Returns what stands out, most important first; nothing without enrolments. */
export function findingsOf(figures: Report, formats: Formats): Finding[] {
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

function completion({ summary }: Report, { words, count, roughPercent }: Formats): Finding {
  const { completionPercentage, completed, enrollments, notStarted } = summary
  return {
    figure: roughPercent(completionPercentage ?? 0),
    text: words.findings.completion(count(completed), count(enrollments), count(notStarted)),
  }
}

function activity({ activity: now, activityBefore, start, end }: Report, formats: Formats): Finding {
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
function passRate({ summary }: Report, { words, count, percent, roughPercent }: Formats): Finding[] {
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

function inactive({ summary, attention }: Report, { words, count, roughPercent }: Formats): Finding[] {
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

function lowestItem({ items }: Report, formats: Formats): Finding[] {
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

function lowestCompletion({ summary }: Report, { words, percent, roughPercent }: Formats): Finding[] {
  const completionOf = (course: Report['summary']['byCourse'][number]) => course.completionPercentage ?? 0
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
