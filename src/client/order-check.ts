import type { Operation } from '../contract/operation.ts'
import { memberOf } from './member.ts'
import { nounOf } from './nouns.ts'

/** Judges the order of a list's items by the `sort` that they were asked for with. */
export interface OrderCheck {
  /** The field that they were to be sorted by. */
  readonly field: string
  see(item: unknown): void
  /** False where items came that no usual order would have put so. */
  holds(): boolean
  /** True where some item lacks the field. */
  lacking(): boolean
}

type Compare = (first: string, second: string) => number

const natural = new Intl.Collator('en', { numeric: true })
const lettersOnly = (text: string) => text.replace(/[^a-z0-9]/gi, '').toLowerCase()
const bytes: Compare = (first, second) => (first < second ? -1 : first > second ? 1 : 0)

/** The orders of text that platforms have: by code, ignoring case, as a person would, ignoring what is no letter. */
const texts: readonly Compare[] = [
  bytes,
  (first, second) => bytes(first.toLowerCase(), second.toLowerCase()),
  natural.compare,
  (first, second) => bytes(lettersOnly(first), lettersOnly(second)),
]

/**
 * The check of `title` or `-title`. Text beyond ASCII is let through: its order depends on the language, which nobody
 * says here.
 *
 * @param choices values that have an order of their own, the lowest first
 */
export function createOrderCheck(operation: Operation, sort: string, choices: readonly string[]): OrderCheck {
  const [, descending, field = ''] = /^(-?)(.*)$/s.exec(sort) ?? []
  const direction = descending === '-' ? -1 : 1
  const noun = nounOf(operation)
  const rank = (text: string) => choices.indexOf(text.toLowerCase())
  const ranked: Compare = (first, second) =>
    rank(first) < 0 || rank(second) < 0 ? bytes(first, second) : rank(first) - rank(second)
  let orders = [...texts, ranked]
  let ordered = true
  let lacks = false
  let last: unknown = null

  return {
    field,
    see(item) {
      const value = memberOf(item, field, noun)
      if (value === undefined) lacks = true
      if (value === undefined || value === null || value === '') return
      if (isNumeric(last) && isNumeric(value)) {
        ordered &&= (Number(last) - Number(value)) * direction <= 0
      } else if (isAscii(last) && isAscii(value)) {
        const before = last
        orders = orders.filter((compare) => compare(before, value) * direction <= 0)
      }
      last = value
    },
    holds: () => ordered && orders.length > 0,
    lacking: () => lacks,
  }
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || /^-?\d+(\.\d+)?$/.test(String(value))
}

function isAscii(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)
}
