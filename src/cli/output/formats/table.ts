import type { ChalkInstance } from 'chalk'
import stringWidth from 'string-width'
import { escapeHidden } from '../../../codec/display-text.ts'
import { type Column, cellText, valueAt } from '../columns.ts'
import type { Format } from './format.ts'
import { recordText } from './record.ts'

/** Layout of a table: the terminal's width and colours, and the columns. */
export interface TableOptions {
  /** Columns of a list, the most important first. */
  readonly columns: readonly Column[]
  /** True if the user chose them: then a list shows all of them, and a record no others. */
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

/** Formats a cell; an instant only to the minute, which is enough to tell rows apart. */
function cellOf(value: unknown, column: Column): string {
  return escapeHidden(cellText(valueAt(value, column.path))).replace(instant, '$1Z')
}

const pathOrUrl = /^(\/|[A-Za-z]:\\|https?:\/\/)/

function factsOf(columns: readonly Column[], values: readonly unknown[], width: number): ColumnFacts[] {
  // Minimum widths: the first column identifies the row, and a path needs its end.
  const readable = { first: Math.min(32, Math.floor(width * 0.4)), path: 56, other: 16 }
  return columns.map((column, index) => {
    const cells = values.map((value) => cellOf(value, column)).filter((cell) => cell !== '')
    const id = /(^i|I)d$/.test(column.path)
    const whole = id || cells.every((cell) => instant.test(cell))
    const kind = cells.some((cell) => pathOrUrl.test(cell)) ? 'path' : index === 0 ? 'first' : 'other'
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

/** Facts about a column that decide its width. */
interface ColumnFacts {
  /** Width of the widest value or the label. */
  readonly natural: number
  /** Minimum width to be readable. */
  readonly least: number
  /** True if values must not be truncated: ids, instants. */
  readonly whole: boolean
  /** True for ids, which commands take. */
  readonly id: boolean
  /** True if every row has a value. */
  readonly full: boolean
  /** True if no row has a value. */
  readonly empty: boolean
}

/** Spaces between two columns. */
const gap = 2
/** Minimum width of a truncated text. */
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
