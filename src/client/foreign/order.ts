import { isDeepStrictEqual } from 'node:util'
import type { Operation } from '../../contract/operation.ts'
import type { AnyInput, Page } from '../call.ts'
import type { Caller } from '../caller.ts'
import type { ReadFirst } from './asked.ts'
import { firstPage, unlessRefused } from './filter.ts'
import { nounOf } from './names.ts'
import { idOf, memberOf } from './record.ts'
import { createTimeColumn } from './times.ts'

/** Checks the order in which a platform sends a list. */
export interface OrderWatch {
  /** Yields the pages unchanged. */
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P>
  /**
   * Returns `ignored` if the platform did not sort the list, `unknown` if it sent rows without the field and refuses to
   * show whether it sorts; null otherwise.
   *
   * @param cut whether more rows exist than were read
   */
  result(cut: boolean): Promise<'ignored' | 'unknown' | null>
  /** The field to sort by. */
  readonly field: string
}

/** Minimum number of items in order that is not likely to be chance. */
const minSteps = 5

/**
 * Watches a list whose query has a `sort` such as `title` or `-title`.
 *
 * @param choices values with an order of their own, the lowest first
 */
export function watchOrder(
  caller: Caller,
  operation: Operation,
  { params, query = {}, signal }: AnyInput,
  choices: readonly string[],
): OrderWatch {
  const check = createOrderCheck(operation, String(query['sort']), choices)
  const readFirst: ReadFirst = (asked) =>
    unlessRefused(() => firstPage(caller, operation, { params, query: asked, signal }))
  let seen = false

  /** Returns whether the platform ignores the order; null if that cannot be decided. */
  async function isIgnored(cut: boolean): Promise<boolean | null> {
    if (!check.holds()) return true
    if (!seen || (!check.isUncertain() && !(cut && check.steps() < minSteps))) return false
    return isSortIgnored(operation, query, readFirst)
  }

  return {
    field: check.field,
    async *pages(pages) {
      for await (const page of pages) {
        if (!page.strict) {
          seen ||= page.data.length > 0
          for (const item of page.data) check.see(item)
        }
        yield page
      }
    },
    result: async (cut) => {
      const ignored = await isIgnored(cut)
      if (ignored === null) return check.lacking() ? 'unknown' : null
      return ignored ? 'ignored' : null
    },
  }
}

/** Checks the order of a list's items against the `sort` of its query. */
interface OrderCheck {
  /** The field to sort by. */
  readonly field: string
  see(item: unknown): void
  /** False if items are out of order in every usual collation. */
  holds(): boolean
  /** True if an item lacks the field. */
  lacking(): boolean
  /** True if items could not be compared, or only by rules that may not be the platform's. */
  isUncertain(): boolean
  /** Number of items in order that differ from the item before. */
  steps(): number
}

type Compare = (first: string, second: string) => number

const natural = new Intl.Collator('en', { numeric: true })
const lettersOnly = (text: string) => text.replace(/[^a-z0-9]/gi, '').toLowerCase()
const bytes: Compare = (first, second) => (first < second ? -1 : first > second ? 1 : 0)

/** Collations that platforms use: by code, ignoring case, by locale, ignoring punctuation. */
const texts: readonly Compare[] = [
  bytes,
  (first, second) => bytes(first.toLowerCase(), second.toLowerCase()),
  natural.compare,
  (first, second) => bytes(lettersOnly(first), lettersOnly(second)),
]

/**
 * Creates the check of `title` or `-title`. Text beyond ASCII is not compared: its order depends on a language that is
 * unknown here.
 *
 * @param choices values with an order of their own, the lowest first
 */
function createOrderCheck(operation: Operation, sort: string, choices: readonly string[]): OrderCheck {
  const [, descending, field = ''] = /^(-?)(.*)$/s.exec(sort) ?? []
  const direction = descending === '-' ? -1 : 1
  const noun = nounOf(operation)
  const rank = (text: string) => choices.indexOf(text.toLowerCase())
  const ranked: Compare = (first, second) =>
    rank(first) < 0 || rank(second) < 0 ? bytes(first, second) : rank(first) - rank(second)
  const times = createTimeColumn()
  let orders = [...texts, ranked]
  let ordered = true
  let lacks = false
  let skips = false
  let ranks = false
  let strange = false
  let steps = 0
  let last: unknown = null

  function compareWith(before: unknown, value: unknown): void {
    if (before === null || before === value) return
    steps += 1
    const [time, timeBefore] = [times.read(value), times.read(before)]
    if (isNumeric(before) && isNumeric(value)) {
      ordered &&= (Number(before) - Number(value)) * direction <= 0
    } else if (time.length > 0 && timeBefore.length > 0) {
      const [[one], [two]] = [timeBefore, time]
      if (!one || !two || time.length > 1 || timeBefore.length > 1) skips = true
      else ordered &&= (one.first - two.first) * direction <= 0
    } else if (isAscii(before) && isAscii(value)) {
      orders = orders.filter((compare) => compare(before, value) * direction <= 0)
    } else {
      skips = true
    }
  }

  return {
    field,
    see(item) {
      const value = memberOf(item, field, noun)
      if (value === undefined) lacks = true
      if (value === undefined || value === null || value === '') return
      if (rank(String(value)) < 0) strange = true
      else ranks = true
      compareWith(last, value)
      last = value
    },
    holds: () => ordered && (orders.length > 0 || (ranks && strange)),
    lacking: () => lacks,
    isUncertain: () => lacks || skips || (ranks && strange),
    steps: () => steps,
  }
}

/**
 * True if the platform ignores the order: its first page, in its own size, is the same in the opposite order although its
 * items have different values. Null if the platform refuses the request.
 */
async function isSortIgnored(
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
  readFirst: ReadFirst,
): Promise<boolean | null> {
  const { sort: asSent, limit: _, ...others } = query
  const sort = String(asSent)
  const opposite = sort.startsWith('-') ? sort.slice(1) : `-${sort}`
  const [asked, reversed] = [
    await readFirst({ ...others, sort }),
    await readFirst({ ...others, sort: opposite }),
  ]
  if (asked === null || reversed === null) return null
  const noun = nounOf(operation)
  const values = (items: readonly unknown[]) =>
    items.map((item) => memberOf(item, sort.replace(/^-/, ''), noun))
  const names = (items: readonly unknown[]) =>
    items.map((item) => idOf(item, noun, operation.identifier) ?? item)
  if (!isDeepStrictEqual(names(asked), names(reversed))) return false
  const [first] = values(asked)
  return asked.length > 1 && (first === undefined || new Set(values(asked)).size > 1)
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || /^-?\d+(\.\d+)?$/.test(String(value))
}

function isAscii(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)
}
