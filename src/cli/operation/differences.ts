import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { pluralise, wrap } from '../terminal/format-text.ts'

const maxLines = 200
const contextLines = 1
/** Maximum comparisons of lines; longer texts are shown as removed and added. */
const maxCompared = 4_000_000
const minWidth = 20
/** Unchanged characters shown before and after the change of a line that is too long to be shown. */
const contextCharacters = 30

/** `title: "Sea" → "Ocean"`, or lines with `-` and `+`. No line is longer than `width`, but for a word; `most` lines a value. */
export function changeLines(
  field: string,
  from: unknown,
  to: unknown,
  width: number,
  most = maxLines,
): string[] {
  const form = { width: Math.max(width, minWidth), most }
  return namedChanges(field, from, to).flatMap((change) => linesOf(change, form))
}

interface Form {
  readonly width: number
  readonly most: number
}

function linesOf(change: NamedChange, form: Form): string[] {
  const { field, from, to } = change
  const { width } = form
  if (isObjects(from) && isObjects(to)) return itemLines(field, from, to, form)
  const isShown = changeTexts(change).every((text) => text !== null)
  const line = changeText(change)
  if (isShown && line.length <= width) return [line]
  const [before, after] = [valueLines(from), valueLines(to)]
  if (before.length + after.length === 0) return wrap(line, width)
  const [one, other] = [from, to].map((value) => value === undefined || value === null)
  const word = one && !isText(to) ? ' added' : other && !isText(from) ? ' removed' : ''
  return [`${field}:${word}`, ...markedLines(before, after, form)]
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isObjects(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isJsonObject)
}

function itemLines(
  field: string,
  from: readonly JsonObject[],
  to: readonly JsonObject[],
  form: Form,
): string[] {
  const lines: string[] = []
  let removed: Numbered[] = []
  let added: Numbered[] = []
  const flush = () => {
    const [before, after] = [removed, added]
    removed = []
    added = []
    for (const { item, number } of before) {
      const next = after.findIndex((other) => other.item['type'] === item['type'])
      const [other] = next < 0 ? [] : after.splice(next, 1)
      lines.push(
        ...(other
          ? changeLines(`${field}.${other.number}`, item, other.item, form.width, form.most)
          : linesOf({ field: `${field}.${number}`, from: item, to: undefined }, form)),
      )
    }
    for (const { item, number } of after) {
      lines.push(...linesOf({ field: `${field}.${number}`, from: undefined, to: item }, form))
    }
  }
  let [left, right] = [0, 0]
  for (const { kind, item } of compared(from, to, isDeepStrictEqual)) {
    if (kind === 'same') flush()
    if (kind !== 'added') left += 1
    if (kind !== 'removed') right += 1
    if (kind === 'removed') removed.push({ item, number: left })
    if (kind === 'added') added.push({ item, number: right })
  }
  flush()
  return lines
}

interface Numbered {
  readonly item: JsonObject
  readonly number: number
}

/** A text gives its own lines, an object a line for each field. */
function valueLines(value: unknown): string[] {
  if (value === undefined || value === null || value === '') return []
  if (typeof value === 'string') return value.split('\n')
  if (Array.isArray(value)) return value.flatMap(valueLines)
  if (!isJsonObject(value)) return [jsonText(value)]
  return Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined || member === null || name === 'id') return []
    if (Array.isArray(member) && member.some(isJsonObject))
      return [`${name}: ${pluralise(member.length, 'item')}`]
    const lines = valueLines(member)
    return lines.length < 2
      ? lines.map((line) => `${name}: ${line}`)
      : [`${name}:`, ...lines.map((line) => `  ${line}`)]
  })
}

/** Returns the lines that differ, with some that are the same around them; `…` stands for the others. */
function markedLines(before: readonly string[], after: readonly string[], { width, most }: Form): string[] {
  const all = compared(before, after, (one, other) => one === other)
  const shown = withExcerpts(all, (width * most) / 2)
  const isNear = all.map((_, index) =>
    all
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some(({ kind }) => kind !== 'same'),
  )
  const lines: string[] = []
  for (const [index, { kind, item }] of all.entries()) {
    if (!isNear[index]) {
      if (lines.at(-1) !== '    …') lines.push('    …')
      continue
    }
    const mark = { same: ' ', removed: '-', added: '+' }[kind]
    for (const [part, text] of wrap(shown[index] ?? item, width - 4).entries())
      lines.push(`  ${part === 0 ? mark : ' '} ${text}`.trimEnd())
  }
  if (lines.length <= most) return lines
  return [...lines.slice(0, most), `  … and ${pluralise(lines.length - most, 'more line')}`]
}

/** Shows only what differs of long lines that were replaced by another. */
function withExcerpts(all: readonly Compared<string>[], maxLength: number): string[] {
  const texts = all.map(({ item }) => item)
  for (const [index, { kind, item }] of all.entries()) {
    const next = all[index + 1]
    if (kind !== 'removed' || next?.kind !== 'added') continue
    if (Math.max(item.length, next.item.length) <= maxLength) continue
    const [one, other] = excerpts(item, next.item)
    texts.splice(index, 2, one, other)
  }
  return texts
}

function excerpts(one: string, other: string): [string, string] {
  const most = Math.min(one.length, other.length)
  let start = 0
  while (start < most && one[start] === other[start]) start += 1
  let end = 0
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1
  const from = one.lastIndexOf(' ', Math.max(0, start - contextCharacters)) + 1
  const excerpt = (text: string) => {
    const last = text.indexOf(' ', text.length - end + contextCharacters)
    const to = last < 0 || end <= contextCharacters ? text.length : last
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
  }
  return [excerpt(one), excerpt(other)]
}

interface Compared<Item> {
  readonly kind: 'same' | 'removed' | 'added'
  readonly item: Item
}

/** Compares two sequences by their longest common subsequence; removed items come before the ones added in their place. */
function compared<Item>(
  before: readonly Item[],
  after: readonly Item[],
  isSame: (one: Item, other: Item) => boolean,
): Compared<Item>[] {
  const at = (items: readonly Item[], index: number) => items[index] as Item
  const equal = (left: number, right: number) => isSame(at(before, left), at(after, right))
  let start = 0
  while (start < before.length && start < after.length && equal(start, start)) start += 1
  let [leftEnd, rightEnd] = [before.length, after.length]
  while (leftEnd > start && rightEnd > start && equal(leftEnd - 1, rightEnd - 1)) {
    leftEnd -= 1
    rightEnd -= 1
  }
  const [rows, columns] = [leftEnd - start, rightEnd - start]
  // Length of the longest common subsequence of the rest from each pair of places on.
  const isSmall = rows * columns <= maxCompared
  const lengths = isSmall ? new Uint32Array((rows + 1) * (columns + 1)) : new Uint32Array(0)
  const place = (row: number, column: number) => row * (columns + 1) + column
  for (let row = isSmall ? rows - 1 : -1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[place(row, column)] = equal(start + row, start + column)
        ? (lengths[place(row + 1, column + 1)] ?? 0) + 1
        : Math.max(lengths[place(row + 1, column)] ?? 0, lengths[place(row, column + 1)] ?? 0)
    }
  }
  const result: Compared<Item>[] = before.slice(0, start).map((item) => ({ kind: 'same', item }))
  let [row, column] = [0, 0]
  while (row < rows || column < columns) {
    const isBoth = isSmall && row < rows && column < columns
    if (isBoth && equal(start + row, start + column)) {
      result.push({ kind: 'same', item: at(before, start + row) })
      row += 1
      column += 1
    } else if (
      row < rows &&
      (column >= columns ||
        !isSmall ||
        (lengths[place(row + 1, column)] ?? 0) >= (lengths[place(row, column + 1)] ?? 0))
    ) {
      result.push({ kind: 'removed', item: at(before, start + row) })
      row += 1
    } else {
      result.push({ kind: 'added', item: at(after, start + column) })
      column += 1
    }
  }
  return [...result, ...before.slice(leftEnd).map((item): Compared<Item> => ({ kind: 'same', item }))]
}

/** `field` is a dotted path; undefined is no value. */
export interface NamedChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/** Fields that identify the items of a list, the most specific first. */
const naming = ['name', 'title', 'prompt', 'text'] as const
const maxCharacters = 50

/** Items of lists are identified by name (`weights.Exam`), items of lists of texts by themselves. */
export function namedChanges(field: string, before: unknown, after: unknown): NamedChange[] {
  if (isDeepStrictEqual(before ?? undefined, after ?? undefined)) return []
  if (isJsonObject(before) && isJsonObject(after)) return inObjects(field, before, after)
  if (isList(before) && isList(after)) return inLists(field, before ?? [], after ?? [])
  return [{ field, from: before, to: after }]
}

/** `weights.Exam: 60 → 70`, `modules.Deep: added`; for long text only that it differs. */
export function changeText(change: NamedChange): string {
  const [from, to] = changeTexts(change)
  if (from !== null && to !== null) return `${change.field}: ${from} → ${to}`
  return `${change.field}: ${wordFor(change)}`
}

/** Returns the rows of a table for a change, without nested values: `added`, `removed` or `changed` stands for them. */
export function changeRows({ field, from, to }: NamedChange): readonly NamedChange[] {
  return namedChanges(field, from, to).map((change) => {
    const [before, after] = changeTexts(change)
    const word = wordFor(change)
    return {
      field: change.field,
      from: isNested(change.from) ? (before ?? (word === 'changed' ? null : word)) : change.from,
      to: isNested(change.to) ? (after ?? word) : change.to,
    }
  })
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Null for a value that is too long or not single. */
function changeTexts(change: NamedChange): readonly [string | null, string | null] {
  return [valueText(change.from), valueText(change.to)]
}

function wordFor(change: NamedChange): string {
  return isNone(change.from) ? 'added' : isNone(change.to) ? 'removed' : 'changed'
}

function inObjects(field: string, from: JsonObject, to: JsonObject): NamedChange[] {
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...names].flatMap((name) => namedChanges(`${field}.${name}`, from[name], to[name]))
}

function inLists(field: string, from: readonly unknown[], to: readonly unknown[]): NamedChange[] {
  const [before, after] = [byName(from), byName(to)]
  if (!before || !after) return [{ field, from, to }]
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const changes = names.flatMap((name): NamedChange[] => {
    const [one, other] = [before.get(name), after.get(name)]
    // Text is both name and value.
    if (!isJsonObject(one ?? other)) {
      return before.has(name) && after.has(name) ? [] : [{ field, from: one, to: other }]
    }
    const place = `${field}.${name}`
    const [was, is] = [withoutName(one), withoutName(other)]
    return one === undefined || other === undefined
      ? [{ field: place, from: was, to: is }]
      : namedChanges(place, was, is)
  })
  // Only the order changed.
  return changes.length > 0
    ? changes
    : [{ field: `${field} (order)`, from: [...before.keys()], to: [...after.keys()] }]
}

/** Null if the items have no unique names. */
function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> | null {
  const items = new Map<string, unknown>()
  for (const item of list) {
    const name = isJsonObject(item) ? nameOf(item) : typeof item === 'object' ? null : String(item)
    if (name === null || items.has(name)) return null
    items.set(name, item)
  }
  return items
}

function nameOf(item: JsonObject): string | null {
  const name = naming.map((field) => item[field]).find((value) => typeof value === 'string')
  return typeof name === 'string' && name.length <= maxCharacters ? name : null
}

/** Returns an item without its name; its only value if it has just one, such as the weight of a criterion. */
function withoutName(item: unknown): unknown {
  if (!isJsonObject(item)) return item
  const field = naming.find((each) => typeof item[each] === 'string')
  const others = Object.entries(item).filter(([name]) => name !== field && name !== 'id')
  const [only] = others
  if (others.length === 1 && only && typeof only[1] !== 'object') return only[1]
  return Object.fromEntries(others)
}

function isList(value: unknown): value is readonly unknown[] | null | undefined {
  return isNone(value) || Array.isArray(value)
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null
}

function valueText(value: unknown): string | null {
  if (isNone(value)) return 'none'
  if (typeof value === 'object') {
    const texts =
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(', ') : null
    return texts !== null && texts !== '' && texts.length <= maxCharacters ? texts : null
  }
  const text = typeof value === 'string' ? JSON.stringify(value) : jsonText(value)
  return text.length <= maxCharacters ? text : null
}
