import type { ChalkInstance } from 'chalk'
import stringWidth from 'string-width'
import { escapeHidden } from '../../../codec/display-text.ts'
import { isJsonObject } from '../../../codec/json-text.ts'
import { wrap } from '../../terminal/format-text.ts'
import { type Column, cellText, valueAt } from '../columns.ts'

/** Layout of a record: the columns, or null for all fields that are set; the terminal's width and colours. */
export interface RecordOptions {
  readonly columns: readonly Column[] | null
  readonly width: number
  readonly chalk: ChalkInstance
}

const gap = 2
const step = 2
/** Minimum room for values beside long names: the length of an id. */
const minValueWidth = 36
/** Minimum width of wrapped text. */
const narrowest = 8

/** Lists with longer items, such as sentences or URLs, are not joined with commas. */
const maxJoinedLength = 24

type Entry = readonly [name: string, value: unknown]

/**
 * Formats a record for people: a line per field, values beside their names. Objects and lists of objects are
 * indented below their names; long texts are wrapped, not truncated. Fields that are not set are left out
 * unless they were chosen.
 */
export function recordText(value: unknown, { columns, width, chalk }: RecordOptions): string {
  const lines = columns
    ? block(
        columns.map((column) => [column.label, valueAt(value, column.path)]),
        width,
        chalk,
      )
    : nestedLines(value, width, chalk)
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

function block(entries: readonly Entry[], width: number, chalk: ChalkInstance): string[] {
  const beside = entries
    .filter(([, value]) => !isNested(value))
    .map(([name]) => stringWidth(escapeHidden(name)))
  const indent = Math.min(Math.max(0, ...beside), Math.max(width - minValueWidth, narrowest)) + gap
  return entries.flatMap(([name, value]) => {
    const head = chalk.bold(escapeHidden(name))
    if (isNested(value)) return [head, ...indented(nestedLines(value, width - step, chalk), step)]
    const [first = '', ...more] = textLines(value, width - indent)
    const room = indent - stringWidth(escapeHidden(name))
    if (room < gap) return [head, ...indented([first, ...more], indent)]
    return [head + ' '.repeat(room) + first, ...indented(more, indent)]
  })
}

/** Formats an object's fields, or the items of a list with dashes. */
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
    const inline = escapeHidden(cellText(value))
    const short = value.every((item) => stringWidth(cellText(item)) <= maxJoinedLength)
    if (short && stringWidth(inline) <= room) return [inline]
    return value.flatMap((item) => {
      const [first = '', ...more] = textLines(item, room - step)
      return [`- ${first}`, ...indented(more, step)]
    })
  }
  // Keep the text's own line breaks; escape all other controls.
  return cellText(value)
    .split(/\r?\n/)
    .flatMap((line) => wrap(escapeHidden(line), room, stringWidth))
}

function indented(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line))
}

function setEntries(value: Readonly<Record<string, unknown>>): Entry[] {
  return Object.entries(value).filter(([, member]) => !isEmpty(member))
}

/** True for a value that goes below its name: an object, or a list that contains one. */
function isNested(value: unknown): boolean {
  if (isEmpty(value)) return false
  return isJsonObject(value) || (Array.isArray(value) && value.some((item) => typeof item === 'object'))
}

/** True for a value that is not set: null, an empty text or list, an object without set fields. */
function isEmpty(value: unknown): boolean {
  if (isJsonObject(value)) return Object.values(value).every(isEmpty)
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}
