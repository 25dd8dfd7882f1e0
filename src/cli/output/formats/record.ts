import type { ChalkInstance } from 'chalk'
import stringWidth from 'string-width'
import { isJsonObject } from '../../../codec/json-object.ts'
import { visible } from '../../../codec/visible.ts'
import { wrap } from '../../terminal/two-columns.ts'
import { type Column, cellAt, cellText } from '../columns.ts'

/** How one thing looks: its chosen fields, or null for all that are set; the terminal's width, and its colours. */
export interface RecordOptions {
  readonly columns: readonly Column[] | null
  readonly width: number
  readonly chalk: ChalkInstance
}

const gap = 2
const step = 2
/** A value is given this much room, however long the names are: as much as an id takes. */
const roomOfValue = 36
/** Below this a text says nothing any more. */
const narrowest = 8

/** Longer items of a list are sentences or addresses: between commas they would run together. */
const longestWord = 24

type Entry = readonly [name: string, value: unknown]

/**
 * One thing for people to read: a line a field, values beside their names. Objects and lists of them stand indented
 * under theirs; long texts are wrapped, none is cut. What is not set is left out, unless it was chosen.
 */
export function recordText(value: unknown, { columns, width, chalk }: RecordOptions): string {
  const lines = columns
    ? block(
        columns.map((column) => [column.label, cellAt(value, column)]),
        width,
        chalk,
      )
    : nestedLines(value, width, chalk)
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

function block(entries: readonly Entry[], width: number, chalk: ChalkInstance): string[] {
  const beside = entries.filter(([, value]) => !isNested(value)).map(([name]) => stringWidth(visible(name)))
  const indent = Math.min(Math.max(0, ...beside), Math.max(width - roomOfValue, narrowest)) + gap
  return entries.flatMap(([name, value]) => {
    const head = chalk.bold(visible(name))
    if (isNested(value)) return [head, ...indented(nestedLines(value, width - step, chalk), step)]
    const [first = '', ...more] = textLines(value, width - indent)
    const room = indent - stringWidth(visible(name))
    if (room < gap) return [head, ...indented([first, ...more], indent)]
    return [head + ' '.repeat(room) + first, ...indented(more, indent)]
  })
}

/** An object's fields, or the items of a list with a dash each. */
function nestedLines(value: unknown, width: number, chalk: ChalkInstance): string[] {
  if (isJsonObject(value)) return block(setEntries(value), width, chalk)
  if (!Array.isArray(value)) return textLines(value, width)
  return value.flatMap((item) => {
    const [first = '', ...more] = isEmpty(item) ? ['–'] : nestedLines(item, width - step, chalk)
    return [`- ${first}`, ...indented(more, step)]
  })
}

function textLines(value: unknown, width: number): string[] {
  const room = Math.max(width, narrowest)
  if (Array.isArray(value)) {
    const inline = visible(cellText(value))
    const short = value.every((item) => stringWidth(cellText(item)) <= longestWord)
    if (short && stringWidth(inline) <= room) return [inline]
    return value.flatMap((item) => {
      const [first = '', ...more] = textLines(item, room - step)
      return [`- ${first}`, ...indented(more, step)]
    })
  }
  // The lines of a text are its own; all other controls are shown.
  return cellText(value)
    .split(/\r?\n/)
    .flatMap((line) => wrap(visible(line), room, stringWidth))
}

function indented(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line))
}

function setEntries(value: Readonly<Record<string, unknown>>): Entry[] {
  return Object.entries(value).filter(([, member]) => !isEmpty(member))
}

/** True for what stands under its name: an object, or a list that holds one. */
function isNested(value: unknown): boolean {
  if (isEmpty(value)) return false
  return isJsonObject(value) || (Array.isArray(value) && value.some((item) => typeof item === 'object'))
}

/** True for what is not set: nothing, an empty text or list, an object of which nothing is set. */
function isEmpty(value: unknown): boolean {
  if (isJsonObject(value)) return Object.values(value).every(isEmpty)
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}
