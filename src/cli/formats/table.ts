import type { ChalkInstance } from 'chalk'
import { cellText, isRecord, pathsIn, valueAt } from '../columns.ts'
import { visible } from '../visible.ts'
import { displayWidth } from '../width.ts'
import type { Format } from './format.ts'

const gap = 2
const narrowest = 8

/** How a table looks: the terminal's width, its colours, and the columns of a list or of a single thing. */
export interface TableOptions {
  readonly columns: readonly string[]
  /** What of a single thing is shown; absent: every field that is not an object, the others leaf by leaf. */
  readonly fields: readonly string[] | null
  readonly width: number
  readonly chalk: ChalkInstance
}

/**
 * Aligned columns fitted to a terminal: a list has a head, its widths are those of its first page; a single thing has
 * a line a field. Loads cli-table3.
 */
export async function loadTable({ columns, fields, width, chalk }: TableOptions): Promise<Format> {
  const { default: Table } = await import('cli-table3')
  const draw = (rows: readonly (readonly string[])[], colWidths: readonly number[], wordWrap: boolean) => {
    // A border of nothing; cli-table3 colours heads and borders by itself unless told not to.
    const style = { head: [], border: [], 'padding-left': 0, 'padding-right': gap }
    const table = new Table({ colWidths: [...colWidths], wordWrap, chars: borderless, style })
    table.push(...rows.map((row) => [...row]))
    return `${table.toString().replace(/ +$/gm, '')}\n`
  }

  return {
    one: (value) => {
      const shown = fields ?? leavesIn(value)
      const rows = shown.map((field) => [chalk.bold(field), textAt(value, field)])
      const first = Math.max(0, ...shown.map(displayWidth)) + gap
      return draw(rows, [first, Math.max(width - first + gap, narrowest)], true)
    },
    list: () => {
      let widths: number[] | null = null
      return {
        rows: (values) => {
          if (values.length === 0) return ''
          const rows = values.map((value) => columns.map((column) => textAt(value, column)))
          const head = widths === null ? [columns.map((column) => chalk.bold(column))] : []
          widths ??= fitted(naturalWidths(columns, rows), columns, width)
          return draw([...head, ...rows], widths, false)
        },
        end: () => '',
      }
    },
  }
}

const borderless = Object.fromEntries(
  ['top', 'bottom', 'left', 'mid', 'right']
    .flatMap((side) => [side, ...['-mid', '-left', '-right'].map((part) => side + part)])
    .concat('middle')
    .map((name) => [name, '']),
)

function textAt(value: unknown, path: string): string {
  return visible(cellText(valueAt(value, path)))
}

function leavesIn(value: unknown): string[] {
  return pathsIn(value).filter((path) => !isRecord(valueAt(value, path)))
}

function naturalWidths(columns: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return columns.map((column, index) =>
    Math.max(displayWidth(column), ...rows.map((row) => displayWidth(row[index] ?? ''))),
  )
}

/** Widths, gaps included, that fit: the widest give way first, ids last, because half an id is of no use. */
function fitted(natural: readonly number[], columns: readonly string[], width: number): number[] {
  const widths = [...natural]
  const available = width - gap * (widths.length - 1)
  const isId = (index: number) => /(^i|I)d$/.test(columns[index] ?? '')
  const shrink = (indexes: number[], least: number) => {
    let excess = widths.reduce((sum, each) => sum + each, 0) - available
    while (excess > 0) {
      const widest = indexes.reduce(
        (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
        -1,
      )
      const current = widths[widest] ?? 0
      if (current <= least) return
      widths[widest] = current - 1
      excess -= 1
    }
  }
  const all = widths.map((_, index) => index)
  shrink(
    all.filter((index) => !isId(index)),
    narrowest,
  )
  shrink(all, 3)
  return widths.map((each) => each + gap)
}
