import { pluralise } from '../terminal/format-text.ts'
import type { Columns } from './package-writer.ts'

/** Cells of a row by the names of their columns. */
export type Cells = Readonly<Record<string, string>>

/** Returns the columns of rows that name their cells: other columns stay empty, and cells without a column are left out. */
export function cellColumns(header: readonly string[]): Columns<Cells> {
  return Object.fromEntries(header.map((column) => [column, (cells: Cells) => cells[column] ?? '']))
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
