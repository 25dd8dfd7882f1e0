import type { ChalkInstance } from 'chalk'
import stringWidth from 'string-width'
import { escapeHidden } from '../../../codec/display-text.ts'
import { isJsonObject } from '../../../codec/json-text.ts'
import { valueAt } from '../../../tables/column.ts'
import { wrap } from '../../terminal/format-text.ts'
import { type Column, cellText } from '../columns.ts'
import type { Format } from './format.ts'

const gap = 2

interface TableOptions {
  /** Columns of a list, the most important first. */
  readonly columns: readonly Column[]
  /** A list shows all chosen columns, and a record no others. */
  readonly chosen: boolean
  readonly width: number
  readonly chalk: ChalkInstance
}

/**
 * Creates a format of aligned columns that fit the terminal. A list has a header and keeps the columns and
 * widths of its first page; a record has a line per field. Loads cli-table3.
 */
export async function loadTable(options: TableOptions): Promise<Format> {
  const { columns, chosen, width, chalk } = options
  const { default: Table } = await import('cli-table3')
  const draw = (rows: readonly string[][], colWidths: readonly number[]) => {
    // Without these, cli-table3 colours heads and borders.
    const style = { head: [], border: [], 'padding-left': 0, 'padding-right': gap }
    const table = new Table({ colWidths: colWidths.map((each) => each + gap), chars: borderless, style })
    table.push(...rows)
    return `${table.toString().replace(/ +$/gm, '')}\n`
  }

  return {
    drawn: true,
    one: (value) => recordText(value, { columns: chosen ? columns : null, width, chalk }),
    list: () => {
      let widths: (number | null)[] | null = null
      return {
        rows: (values) => {
          if (values.length === 0) return ''
          const facts = factsOf(columns, values, width)
          const head = widths === null ? [columns.map(({ label }) => chalk.bold(escapeHidden(label)))] : []
          widths = widths === null ? fitColumns(facts, width, chosen) : widened(widths, facts)
          const rows = values.map((value) => columns.map((column) => cellOf(value, column)))
          const shown = widths.flatMap((each, index) => (each === null ? [] : [{ index, width: each }]))
          return draw(
            [...head, ...rows].map((row) => shown.map(({ index }) => row[index] ?? '')),
            shown.map((column) => column.width),
          )
        },
        end: () => '',
        hidden: () => columns.flatMap(({ label }, index) => (widths?.[index] === null ? [label] : [])),
      }
    },
  }
}

/** Returns the widths for a later page: those of the first, but wider where values must not be truncated. */
function widened(widths: readonly (number | null)[], facts: readonly ColumnFacts[]): (number | null)[] {
  return widths.map((width, index) => {
    const { whole = false, natural = 0 } = facts[index] ?? {}
    return width !== null && whole ? Math.max(width, natural) : width
  })
}

const borderless = Object.fromEntries(
  ['top', 'bottom', 'left', 'mid', 'right']
    .flatMap((side) => [side, ...['-mid', '-left', '-right'].map((part) => side + part)])
    .concat('middle')
    .map((name) => [name, '']),
)

const instant = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/

/** Instants are shown to the minute, which is enough to tell rows apart. */
function cellOf(value: unknown, column: Column): string {
  return escapeHidden(cellText(valueAt(value, column.path))).replace(instant, '$1Z')
}

const pathOrUrl = /^(\/|[A-Za-z]:\\|https?:\/\/)/

function factsOf(columns: readonly Column[], values: readonly unknown[], width: number): ColumnFacts[] {
  // Minimum widths: the first column identifies the row, a path needs its end, and a list its last word.
  const readable = { first: Math.min(32, Math.floor(width * 0.4)), path: 56, list: 28, other: 16 }
  return columns.map((column, index) => {
    const cells = values.map((value) => cellOf(value, column)).filter((cell) => cell !== '')
    const id = /(^i|I)d$/.test(column.path)
    const whole = id || cells.every((cell) => instant.test(cell))
    const isList = values.some((value) => Array.isArray(valueAt(value, column.path)))
    const kind = cells.some((cell) => pathOrUrl.test(cell))
      ? 'path'
      : index === 0
        ? 'first'
        : isList
          ? 'list'
          : 'other'
    const natural = Math.max(
      stringWidth(escapeHidden(column.label)),
      ...cells.map((cell) => stringWidth(cell)),
    )
    return {
      natural,
      least: whole ? natural : Math.min(natural, readable[kind]),
      whole,
      id,
      full: cells.length === values.length,
      empty: cells.length === 0,
    }
  })
}

interface ColumnFacts {
  /** Width of the widest value or the label. */
  readonly natural: number
  readonly least: number
  /** Ids and instants, which must not be truncated. */
  readonly whole: boolean
  readonly id: boolean
  readonly full: boolean
  readonly empty: boolean
}

const minTextWidth = 8

/**
 * Returns the width of each column in a terminal of `width`, without gaps; null for a column without room.
 * The first two columns with values come first, then ids, those that every row has before others, then the
 * other columns in order, then empty ones. Texts share the rest. With `keepAll` all columns stay, and lines
 * exceed the terminal rather than truncate an id.
 */
function fitColumns(columns: readonly ColumnFacts[], width: number, keepAll: boolean): (number | null)[] {
  const indexes = columns.map((_, index) => index)
  const leading = indexes.filter((index) => columns[index]?.empty === false).slice(0, 2)
  const rank = (index: number) => {
    const column = columns[index]
    if (leading.includes(index)) return 0
    if (column?.empty) return 4
    if (column?.id) return column.full ? 1 : 2
    return 3
  }
  let room = width + gap
  let cut = false
  const shown = indexes
    .toSorted((one, other) => rank(one) - rank(other))
    .filter((index, place) => {
      const needed = (columns[index]?.least ?? 0) + gap
      // An empty column must not take the room of one with values.
      const hides = place > 0 && (needed > room || (cut && columns[index]?.empty))
      if (!keepAll && hides) {
        cut = true
        return false
      }
      room -= needed
      return true
    })
  const widths = columns.map(({ natural }, index) => (shown.includes(index) ? natural : null))
  const texts = shown.filter((index) => !columns[index]?.whole)
  const total = () => widths.reduce<number>((sum, each) => sum + (each === null ? 0 : each + gap), -gap)
  for (let excess = total() - width; excess > 0; excess -= 1) {
    const widest = texts.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      -1,
    )
    const current = widths[widest]
    if (current === null || current === undefined || current <= minTextWidth) break
    widths[widest] = current - 1
  }
  return widths
}

/** Layout of a record: the columns, or null for all fields that are set; the terminal's width and colours. */
interface RecordOptions {
  readonly columns: readonly Column[] | null
  readonly width: number
  readonly chalk: ChalkInstance
}

const step = 2
/** Room beside long names: the length of an id. */
const minValueWidth = 36
const narrowest = 8

/** Lists with longer items, such as sentences or URLs, are not joined with commas. */
const maxJoinedLength = 24

type Entry = readonly [name: string, value: unknown]

/** Objects and lists of objects are indented below their names; long texts are wrapped, not truncated. */
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

function isNested(value: unknown): boolean {
  if (isEmpty(value)) return false
  return isJsonObject(value) || (Array.isArray(value) && value.some((item) => typeof item === 'object'))
}

function isEmpty(value: unknown): boolean {
  if (isJsonObject(value)) return Object.values(value).every(isEmpty)
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}
