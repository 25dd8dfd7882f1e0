import { jsonText } from '../../codec/json-text.ts'
import type { Row } from './row.ts'

/** Rows that are sent, and noted in the journal, together. The same file gives the same units again. */
export interface Unit {
  /** From 0. */
  readonly index: number
  readonly rows: readonly Row[]
}

/** How large a unit may be. */
export interface UnitSize {
  readonly rows: number
  /** Characters of their JSON together, so that a request stays below what a server takes (1 MiB). */
  readonly characters: number
}

/** Rows in units of a size, as many units at once as there are rows for. */
export async function* unitsOf(
  rows: AsyncIterable<readonly Row[]>,
  size: UnitSize,
): AsyncGenerator<readonly Unit[]> {
  let index = 0
  let held: Row[] = []
  let characters = 0
  for await (const some of rows) {
    const units: Unit[] = []
    for (const row of some) {
      const length = size.rows === 1 ? 0 : jsonText(row.record).length + 1
      if (held.length > 0 && (held.length >= size.rows || characters + length > size.characters)) {
        units.push({ index, rows: held })
        index += 1
        held = []
        characters = 0
      }
      held.push(row)
      characters += length
    }
    yield units
  }
  if (held.length > 0) yield [{ index, rows: held }]
}
