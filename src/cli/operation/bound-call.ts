import type { Operation } from '../../contract/operation.ts'
import type { OperationSpec } from './operation-spec.ts'
import type { Sources } from './refused-call.ts'

/** A declared command, with what its flags and arguments stand for. */
export interface BoundCall extends Sources {
  readonly spec: Omit<OperationSpec<Operation>, 'arguments' | 'operation'>
  readonly operation: Operation
}
