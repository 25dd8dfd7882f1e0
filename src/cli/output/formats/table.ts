import type { ChalkInstance } from 'chalk'
import stringWidth from 'string-width'
import { visible } from '../../../codec/visible.ts'
import { type Column, cellAt, cellText } from '../columns.ts'
import { type ColumnFacts, fitColumns, gap } from './column-widths.ts'
import type { Format } from './format.ts'
import { recordText } from './record.ts'

/** How a table looks: the terminal's width, its colours, and its columns. */
export interface TableOptions {
  /** The columns of a list, the most important first. */
  readonly columns: readonly Column[]
  /** True where the user chose them: then none is left out of a list, and a single thing shows no others. */
  readonly chosen: boolean
  readonly width: number
  readonly chalk: ChalkInstance
}

/**
 * Aligned columns fitted to a terminal. A list has a head, and keeps the columns and widths of its first page; a single
 * thing has a line a field. Loads cli-table3.
 */
export async function loadTable(options: TableOptions): Promise<Format> {
  const { columns, chosen, width, chalk } = options
  const { default: Table } = await import('cli-table3')
  const draw = (rows: readonly string[][], colWidths: readonly number[]) => {
    // A border of nothing; cli-table3 colours heads and borders by itself unless told not to.
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
          const head = widths === null ? [columns.map(({ label }) => chalk.bold(visible(label)))] : []
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

/** A later page has the widths of the first one; only what must not be cut gets more. */
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

/** An instant to the minute, which tells rows apart; everything else as it is. */
function cellOf(value: unknown, column: Column): string {
  return visible(cellText(cellAt(value, column))).replace(instant, '$1Z')
}

const pathOrUrl = /^(\/|[A-Za-z]:\\|https?:\/\/)/

function factsOf(columns: readonly Column[], values: readonly unknown[], width: number): ColumnFacts[] {
  // What texts need to be readable: the first column says what a row is, and a path says little without its end.
  const readable = { first: Math.min(32, Math.floor(width * 0.4)), path: 56, other: 16 }
  return columns.map((column, index) => {
    const cells = values.map((value) => cellOf(value, column)).filter((cell) => cell !== '')
    const id = /(^i|I)d$/.test(column.path)
    const whole = id || cells.every((cell) => instant.test(cell))
    const kind = cells.some((cell) => pathOrUrl.test(cell)) ? 'path' : index === 0 ? 'first' : 'other'
    const natural = Math.max(stringWidth(visible(column.label)), ...cells.map((cell) => stringWidth(cell)))
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
