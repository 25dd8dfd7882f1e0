import { lineOf } from '../codec/display-text.ts'
import type { Report } from '../contract/analytics.ts'
import { wholeCourse } from '../contract/constants.ts'
import type { Activity, ItemGrades } from '../contract/questions.ts'
import { type ReportLanguage, reportLanguages, type Words, wordsByLanguage } from './words.ts'

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

/** Rounds a percentage to a step, but neither up to 100 nor down to 0. */
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
