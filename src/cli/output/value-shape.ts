import { pathsIn } from './columns.ts'
import type { Shape } from './output.ts'

/** The shape of a value that no operation describes, by the value itself. */
export function shapeOfValue(value: unknown, table: readonly string[]): Shape {
  return { table, paths: pathsIn(value) }
}
