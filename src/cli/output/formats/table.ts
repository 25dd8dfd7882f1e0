import type { ChalkInstance } from 'chalk'
import { isJsonObject } from '../../../codec/json-object.ts'
import { wrap } from '../../terminal/two-columns.ts'
import { visible } from '../../terminal/visible.ts'
import { displayWidth } from '../../terminal/width.ts'
import { cellText, pathsIn, valueAt } from '../columns.ts'
import type { Format } from './format.ts'

const gap = 2
/** Below this a column says nothing any more. */
const narrowest = 8
/** What is left for a value beside its name; a name that leaves less has a line of its own. */
const roomOfId = 36
/** Up to this a column is given room before the next one gets any. */
const readable = 16

/** How a table looks: the terminal's width, its colours, and its columns. */
export interface TableOptions {
  /** The columns of a list, the most important first. */
  readonly columns: readonly string[]
  /** True where the user chose them: then none is left out of a list, and a single thing shows no others. */
  readonly chosen: boolean
  readonly width: number
  readonly chalk: ChalkInstance
}

/**
 * Aligned columns fitted to a terminal. A list has a head, its widths are those of its first page, and the last
 * columns are left out where there is no room for them; a single thing has a line a field. Loads cli-table3.
 */
export async function loadTable({ columns, chosen, width, chalk }: TableOptions): Promise<Format> {
  const { default: Table } = await import('cli-table3')
  const draw = (rows: readonly (readonly string[])[], colWidths: readonly number[]) => {
    // A border of nothing; cli-table3 colours heads and borders by itself unless told not to.
    const style = { head: [], border: [], 'padding-left': 0, 'padding-right': gap }
    const table = new Table({ colWidths: [...colWidths], chars: borderless, style })
    table.push(...rows.map((row) => row.slice(0, colWidths.length)))
    return `${table.toString().replace(/ +$/gm, '')}\n`
  }

  return {
    one: (value) => {
      const fields = chosen ? columns : leavesIn(value)
      const longest = Math.max(0, ...fields.map(displayWidth))
      const indent = Math.min(longest, Math.max(width - roomOfId, narrowest)) + gap
      const lines = fields.flatMap((field) => {
        const text = wrap(textAt(value, field), Math.max(width - indent, narrowest))
        const room = indent - gap - displayWidth(field)
        const name = room < 0 ? chalk.bold(field) : chalk.bold(field) + ' '.repeat(room + gap) + text.shift()
        return [name, ...text.filter((line) => line !== '').map((line) => ' '.repeat(indent) + line)]
      })
      return lines.map((line) => `${line.trimEnd()}\n`).join('')
    },
    list: () => {
      let widths: number[] | null = null
      return {
        rows: (values) => {
          if (values.length === 0) return ''
          const rows = values.map((value) => columns.map((column) => textAt(value, column)))
          const head = widths === null ? [columns.map((column) => chalk.bold(column))] : []
          widths ??= fitted(naturalWidths(columns, rows), columns, width, chosen)
          return draw([...head, ...rows], widths)
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
  return pathsIn(value).filter((path) => !isJsonObject(valueAt(value, path)))
}

function naturalWidths(columns: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return columns.map((column, index) =>
    Math.max(displayWidth(column), ...rows.map((row) => displayWidth(row[index] ?? ''))),
  )
}

/**
 * Widths, gaps included, that fit. Where columns may be left out, the last ones are; then the widest give way, ids
 * last of all, because half an id is of no use.
 */
function fitted(
  natural: readonly number[],
  columns: readonly string[],
  width: number,
  keepAll: boolean,
): number[] {
  const widths = [...natural]
  const isId = (index: number) => /(^i|I)d$/.test(columns[index] ?? '')
  const needed = () =>
    widths.reduce((sum, each, index) => sum + gap + (isId(index) ? each : Math.min(each, readable)), -gap)
  while (!keepAll && widths.length > 2 && needed() > width) widths.pop()

  const shrink = (indexes: number[], least: number) => {
    let excess = widths.reduce((sum, each) => sum + each + gap, -gap) - width
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
