import { type BatchSize, createBatcher } from '../records/write.ts'
import type { Row } from './row.ts'

/** Rows that are sent, and noted in the journal, together. The same file gives the same units again. */
export interface Unit {
  /** From 0. */
  readonly index: number
  readonly rows: readonly Row[]
}

/** Rows in units of a size, as many units at once as there are rows for, numbered from `firstIndex`. */
export async function* unitsOf(
  rows: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  size: BatchSize,
  firstIndex = 0,
): AsyncGenerator<readonly Unit[]> {
  let index = firstIndex
  const batcher = createBatcher<Row>(size, ({ record }) => record)
  const unitOf = (held: readonly Row[]): Unit => ({ index: index++, rows: held })
  for await (const some of rows) {
    yield some.flatMap((row) => {
      const full = batcher.add(row)
      return full ? [unitOf(full)] : []
    })
  }
  const rest = batcher.rest()
  if (rest.length > 0) yield [unitOf(rest)]
}
