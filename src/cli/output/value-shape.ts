import { pathsIn } from './columns.ts'
import type { Shape } from './output.ts'

/** Returns the shape of a value that no operation describes. */
export function shapeOfValue(value: unknown, table: readonly string[]): Shape {
  return { table, paths: pathsIn(value) }
}
