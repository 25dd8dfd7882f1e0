import type { Call } from '../../contract/calls.ts'
import type { Shape } from '../output/output.ts'

/** Returns the output shape of an operation: the items of a list, or the resource. */
export function shapeOf(operation: Call, table: readonly string[]): Shape {
  const { answer } = operation.holds
  return {
    table: table.length > 0 ? table : answer.filter(isField),
    paths: answer,
    identifier: operation.identifier,
  }
}

/** Returns the fields of answers that bodies lack, to be removed when a resource is sent back as a new one. */
export function readOnlyFields({ holds: { answer, body } }: Call): string[] {
  return answer.filter((path) => isField(path) && !body.includes(path))
}

/** True for a field that is not part of another one. */
function isField(path: string): boolean {
  return !path.includes('.')
}
