import type { Call } from '../../contract/calls.ts'
import type { Shape } from '../output/output.ts'

/** What an operation's result looks like: the items of a list, or the resource. */
export function shapeOf(operation: Call, table: readonly string[]): Shape {
  const { answer } = operation.holds
  return {
    table: table.length > 0 ? table : answer.filter(isField),
    paths: answer,
    identifier: operation.identifier,
  }
}

/** The fields that answers carry and bodies do not: what has to go when a resource is sent back as a new one. */
export function readOnlyFields({ holds: { answer, body } }: Call): string[] {
  return answer.filter((path) => isField(path) && !body.includes(path))
}

/** True for what is no part of another field. */
function isField(path: string): boolean {
  return !path.includes('.')
}
