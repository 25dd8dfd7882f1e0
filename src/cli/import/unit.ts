import { type BatchSize, createBatcher } from '../records/write.ts'
import type { Row } from './row.ts'

/** Rows that are sent and journalled together. The same file always gives the same units. */
export interface Unit {
  /** Index from 0. */
  readonly index: number
  readonly rows: readonly Row[]
}

/** Groups rows into units of a size, numbered from `firstIndex`; yields all units of a chunk at once. */
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
