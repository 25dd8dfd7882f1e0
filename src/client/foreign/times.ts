/** Range of instants that a time may mean, in milliseconds since 1970, both ends inclusive. */
export interface Instants {
  readonly first: number
  readonly last: number
}

/** Reads the times in one column of a platform. Some values show the date format of the others. */
export interface TimeColumn {
  /** Reads a value for the format: a day above 12 shows the order of day and month in all values. */
  learn(value: unknown): void
  /** Returns the possible readings of a value: none if it is not a time, two if the order of day and month is unknown. */
  read(value: unknown): readonly Instants[]
  /** True while values came with two readings, and no value showed which one is right. */
  isOpen(): boolean
}

type Order = 'day first' | 'month first'

/** Largest offset of local time from UTC (UTC+14), and so the largest error of a time without a zone. */
const maxOffsetMs = 14 * 60 * 60 * 1000
const dayMs = 24 * 60 * 60 * 1000
/** The end of the year 9999, in milliseconds. */
const latestMs = 253_402_300_799_999
/** Boundary between seconds since 1970 (until the year 5138) and milliseconds (from 1973 on). */
const firstMilliseconds = 1e11
const maxLength = 64

const clock = String.raw`(?<hour>\d\d?)(?::?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?(?:\s?(?<half>[ap]m))?`
const zone = String.raw`\s?(?<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)`
const iso = new RegExp(
  `^(?<year>\\d{4})(?<dash>-?)(?<month>\\d\\d)\\k<dash>(?<day>\\d\\d)(?:[T ]${clock}(?:${zone})?)?$`,
  'i',
)
const numeric = new RegExp(
  `^(?:(?<year>\\d{4})(?<mark>[./-])(?<one>\\d\\d?)\\k<mark>(?<two>\\d\\d?)|(?<one2>\\d\\d?)(?<mark2>[./-])(?<two2>\\d\\d?)\\k<mark2>(?<year2>\\d{4}))(?:,?[T ]\\s?${clock}(?:${zone})?)?$`,
  'i',
)
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const monthName = `(?<name>${months.join('|')})`
const plainClock = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
/** The three forms of an HTTP-date (RFC 9110 §5.6.7), with the zones of RFC 5322 in place of GMT. */
const httpDates = [
  new RegExp(
    `^[A-Z][a-z]{2}, (?<day>\\d\\d) ${monthName} (?<year>\\d{4}) ${plainClock} (?<zone>GMT|UTC|[+-]\\d{4})$`,
  ),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-${monthName}-(?<year>\\d\\d) ${plainClock} (?<zone>GMT)$`),
  new RegExp(`^[A-Z][a-z]{2} ${monthName} (?<day>[ \\d]\\d) ${plainClock} (?<year>\\d{4})$`),
]

/**
 * Creates a column of times. Reads ISO 8601, HTTP-dates (RFC 9110) and Unix times directly. `03/02/2024` and `03.02.2024`
 * have two readings until another value of the column has a day above 12.
 */
export function createTimeColumn(): TimeColumn {
  const shown = new Set<Order>()
  let sawBoth = false

  function numericReadings(text: string): Partial<Record<Order, Instants>> {
    const groups = numeric.exec(text)?.groups
    if (!groups) return {}
    const one = groups['one'] ?? groups['one2']
    const two = groups['two'] ?? groups['two2']
    const year = groups['year'] ?? groups['year2']
    const dayFirst = instantsOf({ ...groups, year, day: one, month: two })
    const monthFirst = instantsOf({ ...groups, year, day: two, month: one })
    return { ...(dayFirst && { 'day first': dayFirst }), ...(monthFirst && { 'month first': monthFirst }) }
  }

  return {
    learn(value) {
      if (typeof value !== 'string' || value.length > maxLength || iso.test(value.trim())) return
      const [order, other] = Object.entries(numericReadings(value.trim()))
      if (!order) return
      if (!other) shown.add(order[0] as Order)
      else if (order[1].first !== other[1].first) sawBoth = true
    },
    read(value) {
      if (typeof value === 'number' || typeof value === 'bigint') return unixTime(Number(value))
      if (typeof value !== 'string' || value.length > maxLength) return []
      const text = value.trim()
      const sure = isoTime(text) ?? httpDate(text)
      if (sure) return [sure]
      if (/^(?:\d{9,10}(?:\.\d+)?|\d{12,13})$/.test(text)) return unixTime(Number(text))
      const readings = numericReadings(text)
      const [order] = shown
      const known = shown.size === 1 && order !== undefined ? readings[order] : undefined
      return known ? [known] : Object.values(readings)
    },
    isOpen: () => sawBoth && shown.size === 0,
  }
}

function unixTime(number: number): readonly Instants[] {
  const ms = number < firstMilliseconds ? number * 1000 : number
  return ms >= 0 && ms <= latestMs ? [{ first: ms, last: ms }] : []
}

function isoTime(text: string): Instants | null {
  const groups = iso.exec(text)?.groups
  return groups ? instantsOf(groups) : null
}

function httpDate(text: string): Instants | null {
  for (const form of httpDates) {
    const groups = form.exec(text)?.groups
    if (!groups) continue
    const year = String(groups['year'])
    const month = String(months.indexOf(String(groups['name'])) + 1)
    // Years of two digits are 1970 to 2069.
    const whole = year.length === 4 ? year : `${Number(year) < 70 ? 20 : 19}${year}`
    return instantsOf({
      ...groups,
      year: whole,
      month,
      zone: 'GMT',
      ...(groups['zone'] && { zone: groups['zone'] }),
    })
  }
  return null
}

type Parts = Readonly<Record<string, string | undefined>>

/** Returns the range of a date and time; null if it does not exist in the calendar. */
function instantsOf(parts: Parts): Instants | null {
  const number = (name: string) => Number(parts[name] ?? 0)
  const day = Date.UTC(number('year'), number('month') - 1, number('day'))
  const date = new Date(day)
  if (date.getUTCMonth() !== number('month') - 1 || date.getUTCDate() !== number('day')) return null
  if (parts['hour'] === undefined) return { first: day - maxOffsetMs, last: day + dayMs - 1 + maxOffsetMs }
  const half = parts['half']?.toLowerCase()
  const hour = half === undefined ? number('hour') : (number('hour') % 12) + (half === 'pm' ? 12 : 0)
  if (hour > 23 || number('minute') > 59 || number('second') > 60) return null
  const fraction = Number(`0.${parts['fraction'] ?? 0}`)
  const local = day + ((hour * 60 + number('minute')) * 60 + number('second') + fraction) * 1000
  const zone = parts['zone']
  if (zone === undefined) return { first: local - maxOffsetMs, last: local + maxOffsetMs }
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? []
  const ms = local - Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return { first: ms, last: ms }
}
