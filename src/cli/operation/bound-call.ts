import type { Call } from '../../contract/calls.ts'
import type { OperationSpec } from './operation-spec.ts'
import type { Sources } from './refused-call.ts'

/** A declared command and the request fields of its flags and arguments. */
export interface BoundCall extends Sources {
  readonly spec: Omit<OperationSpec<Call>, 'arguments' | 'operation'>
  readonly operation: Call
  /** Answers to prompts by field path. */
  readonly answers?: Map<string, unknown>
}
