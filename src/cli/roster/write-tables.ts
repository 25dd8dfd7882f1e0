import { pluralise } from '../terminal/format-text.ts'
import type { PackageWriter } from './package-writer.ts'

/** Columns of a table in their order, with the text that a record has in each. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>

export interface RecordTable<Item> {
  /** Without the header. */
  readonly rows: number
  add(item: Item): void | Promise<void>
}

export async function recordTable<Item>(
  to: PackageWriter,
  name: string,
  columns: Columns<Item>,
): Promise<RecordTable<Item>> {
  const table = await to.table(name, Object.keys(columns))
  const texts = Object.values(columns)
  return {
    get rows() {
      return table.rows
    },
    add: (item) => table.add(texts.map((textOf) => textOf(item))),
  }
}

/** Cells of a row by the names of their columns. */
export type Cells = Readonly<Record<string, string>>

/** Opens a table of rows that name their cells: other columns stay empty, and cells without a column are left out. */
export function cellTable(
  to: PackageWriter,
  name: string,
  header: readonly string[],
): Promise<RecordTable<Cells>> {
  const columns = header.map((column) => [column, (cells: Cells) => cells[column] ?? ''] as const)
  return recordTable(to, name, Object.fromEntries(columns))
}

/** Writes a whole table and returns the number of its rows. */
export async function writeTable<Item>(
  to: PackageWriter,
  name: string,
  columns: Columns<Item>,
  items: readonly Item[],
): Promise<number> {
  const table = await recordTable(to, name, columns)
  for (const item of items) await table.add(item)
  return table.rows
}

/** Counts records that a format cannot hold as they are. */
export interface Losses<Name extends string> {
  add(name: Name, count?: number): void
  notes(): readonly string[]
}

/** @param texts notes in their order: `{user}` becomes `1 user` or `2 users`, `{it|them}` one of the two words */
export function createLosses<Name extends string>(texts: Readonly<Record<Name, string>>): Losses<Name> {
  const counts = new Map<string, number>()
  return {
    add: (name, count = 1) => void counts.set(name, (counts.get(name) ?? 0) + count),
    notes: () =>
      Object.entries<string>(texts).flatMap(([name, text]) => {
        const count = counts.get(name) ?? 0
        return count === 0 ? [] : [countedText(text, count)]
      }),
  }
}

function countedText(text: string, count: number): string {
  return text.replace(/\{(.+?)\}/g, (_, noun: string) => {
    const [one = '', several] = noun.split('|')
    if (several === undefined) return pluralise(count, noun)
    return count === 1 ? one : several
  })
}
