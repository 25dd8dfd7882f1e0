import { lineOf } from '../codec/display-text.ts'
import type { Report } from '../contract/analytics.ts'
import { wholeCourse } from '../contract/constants.ts'
import type { Activity, ItemGrades } from '../contract/questions.ts'

export interface ReportOptions {
  /** Title; default: that of the only course, else the words for a report. */
  readonly title?: string | undefined
  /** Language of dates and numbers, and of the words if they are available in it. */
  readonly language: string
  /** Returns the URL of a course; absent for a file, which has no links. */
  readonly courseUrl?: (courseId: string) => string
}

export interface Formats {
  readonly words: Words
  /** Language of the words: that of the document. */
  readonly language: ReportLanguage
  count(count: number): string
  /** Formats a percentage with one decimal; below 100 it never becomes 100: 99.97 is 99.9. Null becomes a dash. */
  percent(value: number | null): string
  /** Without decimals, for sentences; 99.7 is 99, and 0.2 is 1. */
  roughPercent(value: number): string
  wholePercent(value: number): string
  /** A change with its sign: +12%. */
  change(ratio: number): string
  day(time: string): string
  period(start: string, end: string): string
  shortPeriod(start: string, by: Activity['by']): string
}

export interface PartProps {
  readonly figures: Report
  readonly formats: Formats
  readonly courseUrl: ReportOptions['courseUrl']
}

/** Undefined if the words are not available in the language. */
export function wordLanguageOf(language: string): ReportLanguage | undefined {
  const [primary] = new Intl.Locale(language).language.split('-')
  return reportLanguages.find((one) => one === primary)
}

/** Throws a RangeError for a malformed tag (BCP 47). */
export function formatsOf(language: string, timeZone = 'UTC'): Formats {
  const wordLanguage = wordLanguageOf(language) ?? 'en'
  // "en" alone means the American order of dates, which other readers misunderstand.
  const locale = language === 'en' ? 'en-GB' : language
  const whole = new Intl.NumberFormat(locale)
  const tenths = percentFormat(locale, 1)
  const rough = percentFormat(locale, 0)
  const changed = percentFormat(locale, 0, 'exceptZero')
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone })
  const short = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone })
  const month = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone })
  return {
    words: wordsByLanguage[wordLanguage],
    language: wordLanguage,
    count: (count) => whole.format(count),
    percent: (value) => (value === null ? '–' : tenths.format(shy(value, 0.1) / 100)),
    roughPercent: (value) => rough.format(shy(value, 1) / 100),
    wholePercent: (value) => rough.format(value / 100),
    // A minus is as wide as a digit.
    change: (ratio) => changed.format(ratio).replace('-', '−'),
    day: (time) => day.format(new Date(time)),
    // The end is exclusive.
    period: (start, end) =>
      day.formatRange(new Date(start), new Date(Math.max(Date.parse(start), Date.parse(end) - 1))),
    shortPeriod: (start, by) => (by === 'month' ? month : short).format(new Date(start)),
  }
}

function percentFormat(locale: string, digits: number, signDisplay: 'auto' | 'exceptZero' = 'auto') {
  return new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay,
  })
}

function shy(value: number, step: number): number {
  const rounded = Math.round(value / step) * step
  if (value > 0 && rounded === 0) return step
  return value < 100 && rounded >= 100 ? 100 - step : rounded
}

/** Maximum characters of a title. */
const maxTitle = 120

/** Foreign titles become one line, cut, with invisible characters escaped. */
export function titleOf(text: string): string {
  return lineOf(text, maxTitle)
}

/**
 * Returns a title for the middle of a sentence, isolated from it: a title in Arabic must not reorder the figures around it
 * (Unicode UAX #9 §2.4).
 */
export function titleInSentence(text: string): string {
  return `\u2068${titleOf(text)}\u2069`
}

export function itemNameOf({ itemId, itemTitle }: ItemGrades, { words }: Formats): string {
  return itemId === wholeCourse && itemTitle === itemId ? words.wholeCourse : itemTitle
}

/** Dates and numbers follow any language. */
export const reportLanguages = ['en', 'de'] as const
export type ReportLanguage = (typeof reportLanguages)[number]

/** Numbers, dates and titles are passed as formatted text. */
const en = {
  title: 'Learning report',
  asOf: (day: string) => `as of ${day}`,
  activityIn: (period: string) => `activity ${period}`,
  courses: (count: number, text: string) => `${text} ${count === 1 ? 'course' : 'courses'}`,
  learnersCounted: (count: number, text: string) => `${text} ${count === 1 ? 'learner' : 'learners'}`,
  enrollmentsCounted: (count: number, text: string) => `${text} ${count === 1 ? 'enrolment' : 'enrolments'}`,
  standOut: 'What stands out',
  noLearners: 'No learners are enrolled yet, so there is nothing to report.',
  figures: 'Key figures',
  learners: 'Learners',
  enrollments: 'Enrolments',
  completed: 'Completed',
  inProgress: 'In progress',
  notStarted: 'Not started',
  passRate: 'Pass rate',
  medianGrade: 'Median grade',
  averageGrade: 'Average grade',
  inactive: 'Inactive',
  stuck: 'Stuck',
  notPassed: 'Not passed',
  inactiveMeans: (days: string) => `No access for ${days} days, not completed`,
  stuckMeans: (percent: string, days: string) => `Below ${percent} completed, no progress for ${days} days`,
  notPassedMeans: 'Grade below the passing score of the course',
  findings: {
    completion: (completed: string, enrollments: string, notStarted: string) =>
      `of all enrolments are completed: ${completed} of ${enrollments}. Not started: ${notStarted}.`,
    activityChanged: (mean: string, before: string, unit: Unit) =>
      `active learners compared with the period before: ${mean} in an average ${unit}, ${before} before that.`,
    activityBegan: (unit: Unit) => `active learners in an average ${unit}; none in the period before.`,
    activityGrew: (before: string, unit: Unit) =>
      `active learners in an average ${unit}; ${before} in the period before.`,
    activityEnded: (before: string, unit: Unit) =>
      `active learners in this period; ${before} in an average ${unit} of the period before.`,
    noActivity: (period: string) => `active learners in the period ${period}, and none in the one before.`,
    passRate: (passed: string, graded: string) =>
      `of graded enrolments reach the passing score of their course: ${passed} of ${graded}.`,
    lowestPassRate: (course: string, passed: string, graded: string, overall: string) =>
      `pass rate in ${course}, the lowest of all courses: ${passed} of ${graded} graded. All courses together: ${overall}.`,
    lowestCompletion: (course: string, highestCourse: string, highest: string) =>
      `completed in ${course}, the lowest of all courses. The highest is ${highestCourse} with ${highest}.`,
    lowestItem: (item: string, course: string, median: string) =>
      `pass rate of ${item} in ${course}, the lowest of all graded items. Its median grade is ${median}.`,
    inactive: (inactive: string, enrollments: string, days: string) =>
      `of all enrolments are inactive: ${inactive} of ${enrollments} have had no access for ${days} days and are not completed.`,
    inactiveMostly: (course: string, inactive: string) => ` Most of them are in ${course}: ${inactive}.`,
  },
  completion: 'Completion',
  completionNote: 'Number of enrolments by percentage of the course that is completed.',
  completionRange: 'Percentage completed',
  share: 'Share',
  activity: 'Activity',
  activeLearners: 'Active learners',
  progressUpdates: 'Progress updates',
  completions: 'Courses completed',
  gradesGiven: 'Grades given',
  perUnit: { day: 'per day', week: 'per week', month: 'per month' },
  unit: { day: 'Day', week: 'Week from', month: 'Month' },
  noActivity: (period: string) => `No learner was active in the period ${period}.`,
  grades: 'Grades',
  gradesNote: 'Number of graded enrolments by grade of the course, in per cent of the maximum.',
  gradeRange: 'Grade',
  above: (percent: string) => `Above ${percent}`,
  noGrades: 'No grades yet.',
  items: 'Grades by item',
  itemsNote:
    'On a scale from 0 to 100%: the hatched bar is the middle half of the grades, the solid mark the median. The pass rate is the share of grades that reach the passing score of the course.',
  moreItems: (count: number, text: string) =>
    `${text} more ${count === 1 ? 'item' : 'items'} with a higher pass rate.`,
  item: 'Item',
  wholeCourse: 'Whole course',
  course: 'Course',
  count: 'Grades',
  spread: 'Spread',
  spreadOf: (lower: string, median: string, upper: string) =>
    `Middle half ${lower} to ${upper}, median ${median}`,
  middleHalf: 'Middle half',
  median: 'Median',
  attention: 'Learners who may need help',
  attentionNote: (day: string) =>
    `Active enrolments in published courses on ${day}. A learner can be counted for several reasons.`,
  reason: 'Reason',
  attentionByCourse: 'By course, most inactive first',
  noAttention: 'No learner needs help for one of these reasons.',
  moreCourses: (count: number, text: string) =>
    `${text} more ${count === 1 ? 'course is' : 'courses are'} not listed.`,
  comparison: 'Courses side by side',
  comparisonNote: 'Highest completion first.',
  standingOf: (completed: string, inProgress: string, notStarted: string) =>
    `${completed} completed, ${inProgress} in progress, ${notStarted} not started`,
  showTable: 'Show as table',
  footnote:
    'Completion, grades and reasons for help are about all current enrolments, whenever they began; only the activity is about the period. A learner in two courses has two enrolments. This report contains no names of learners.',
}

type Unit = 'day' | 'week' | 'month'

export type Words = typeof en

const de: Words = {
  title: 'Lernbericht',
  asOf: (day) => `Stand ${day}`,
  activityIn: (period) => `Aktivität ${period}`,
  courses: (count, text) => `${text} ${count === 1 ? 'Kurs' : 'Kurse'}`,
  learnersCounted: (_, text) => `${text} Lernende`,
  enrollmentsCounted: (count, text) => `${text} ${count === 1 ? 'Einschreibung' : 'Einschreibungen'}`,
  standOut: 'Das fällt auf',
  noLearners: 'Noch ist niemand eingeschrieben, daher gibt es nichts zu berichten.',
  figures: 'Kennzahlen',
  learners: 'Lernende',
  enrollments: 'Einschreibungen',
  completed: 'Abgeschlossen',
  inProgress: 'In Arbeit',
  notStarted: 'Nicht begonnen',
  passRate: 'Bestehensquote',
  medianGrade: 'Median der Noten',
  averageGrade: 'Mittlere Note',
  inactive: 'Inaktiv',
  stuck: 'Ohne Fortschritt',
  notPassed: 'Nicht bestanden',
  inactiveMeans: (days) => `Seit ${days} Tagen kein Zugriff, nicht abgeschlossen`,
  stuckMeans: (percent, days) => `Unter ${percent} abgeschlossen, seit ${days} Tagen kein Fortschritt`,
  notPassedMeans: 'Note unter der Bestehensgrenze des Kurses',
  findings: {
    completion: (completed, enrollments, notStarted) =>
      `aller Einschreibungen sind abgeschlossen: ${completed} von ${enrollments}. Nicht begonnen: ${notStarted}.`,
    activityChanged: (mean, before, unit) =>
      `aktive Lernende gegenüber dem Zeitraum davor: ${mean} im Mittel je ${unitsDe[unit]}, davor ${before}.`,
    activityBegan: (unit) => `aktive Lernende im Mittel je ${unitsDe[unit]}; im Zeitraum davor keine.`,
    activityGrew: (before, unit) =>
      `aktive Lernende im Mittel je ${unitsDe[unit]}; im Zeitraum davor ${before}.`,
    activityEnded: (before, unit) =>
      `aktive Lernende in diesem Zeitraum; davor im Mittel ${before} je ${unitsDe[unit]}.`,
    noActivity: (period) => `aktive Lernende im Zeitraum ${period} und im Zeitraum davor.`,
    passRate: (passed, graded) =>
      `der benoteten Einschreibungen erreichen die Bestehensgrenze ihres Kurses: ${passed} von ${graded}.`,
    lowestPassRate: (course, passed, graded, overall) =>
      `Bestehensquote in ${course}, die niedrigste aller Kurse: ${passed} von ${graded} Benoteten. Alle Kurse zusammen: ${overall}.`,
    lowestCompletion: (course, highestCourse, highest) =>
      `abgeschlossen in ${course}, der niedrigste Wert aller Kurse. Der höchste ist ${highest} in ${highestCourse}.`,
    lowestItem: (item, course, median) =>
      `Bestehensquote bei ${item} in ${course}, die niedrigste aller Leistungen. Der Median der Noten ist ${median}.`,
    inactive: (inactive, enrollments, days) =>
      `aller Einschreibungen sind inaktiv: ${inactive} von ${enrollments} sind seit ${days} Tagen ohne Zugriff und nicht abgeschlossen.`,
    inactiveMostly: (course, inactive) => ` Die meisten davon in ${course}: ${inactive}.`,
  },
  completion: 'Fortschritt',
  completionNote: 'Anzahl der Einschreibungen nach abgeschlossenem Anteil des Kurses.',
  completionRange: 'Abgeschlossener Anteil',
  share: 'Anteil',
  activity: 'Aktivität',
  activeLearners: 'Aktive Lernende',
  progressUpdates: 'Fortschrittsmeldungen',
  completions: 'Abgeschlossene Kurse',
  gradesGiven: 'Vergebene Noten',
  perUnit: { day: 'je Tag', week: 'je Woche', month: 'je Monat' },
  unit: { day: 'Tag', week: 'Woche ab', month: 'Monat' },
  noActivity: (period) => `Im Zeitraum ${period} waren keine Lernenden aktiv.`,
  grades: 'Noten',
  gradesNote: 'Anzahl der benoteten Einschreibungen nach Kursnote, in Prozent der Höchstpunktzahl.',
  gradeRange: 'Note',
  above: (percent) => `Über ${percent}`,
  noGrades: 'Noch keine Noten.',
  items: 'Noten nach Leistung',
  itemsNote:
    'Auf einer Skala von 0 bis 100 %: Der schraffierte Balken ist die mittlere Hälfte der Noten, die volle Marke der Median. Die Bestehensquote ist der Anteil der Noten, die die Bestehensgrenze des Kurses erreichen.',
  moreItems: (count, text) =>
    `${text} weitere ${count === 1 ? 'Leistung' : 'Leistungen'} mit höherer Bestehensquote.`,
  item: 'Leistung',
  wholeCourse: 'Gesamter Kurs',
  course: 'Kurs',
  count: 'Noten',
  spread: 'Verteilung',
  spreadOf: (lower, median, upper) => `Mittlere Hälfte ${lower} bis ${upper}, Median ${median}`,
  middleHalf: 'Mittlere Hälfte',
  median: 'Median',
  attention: 'Lernende, die Hilfe brauchen könnten',
  attentionNote: (day) =>
    `Aktive Einschreibungen in veröffentlichten Kursen am ${day}. Lernende können aus mehreren Gründen gezählt sein.`,
  reason: 'Grund',
  attentionByCourse: 'Nach Kurs, die meisten Inaktiven zuerst',
  noAttention: 'Niemand braucht aus einem dieser Gründe Hilfe.',
  moreCourses: (count, text) =>
    `${text} ${count === 1 ? 'weiterer Kurs ist' : 'weitere Kurse sind'} nicht aufgeführt.`,
  comparison: 'Kurse im Vergleich',
  comparisonNote: 'Der höchste abgeschlossene Anteil zuerst.',
  standingOf: (completed, inProgress, notStarted) =>
    `${completed} abgeschlossen, ${inProgress} in Arbeit, ${notStarted} nicht begonnen`,
  showTable: 'Als Tabelle zeigen',
  footnote:
    'Fortschritt, Noten und Hilfebedarf betreffen alle derzeitigen Einschreibungen, wann immer sie begannen; nur die Aktivität betrifft den Zeitraum. Wer zwei Kurse besucht, hat zwei Einschreibungen. Dieser Bericht enthält keine Namen von Lernenden.',
}

const unitsDe = { day: 'Tag', week: 'Woche', month: 'Monat' } as const

const wordsByLanguage: Readonly<Record<ReportLanguage, Words>> = { en, de }
