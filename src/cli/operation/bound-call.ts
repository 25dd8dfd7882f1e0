import type { Call } from '../../contract/calls.ts'
import type { OperationSpec } from './operation-spec.ts'
import type { Sources } from './refused-call.ts'

/** A declared command, with what its flags and arguments stand for. */
export interface BoundCall extends Sources {
  readonly spec: Omit<OperationSpec<Call>, 'arguments' | 'operation'>
  readonly operation: Call
  /** Answers to questions by the places of the body that they went to. */
  readonly answers?: Map<string, unknown>
}
