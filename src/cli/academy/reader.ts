import type { Caller } from '../../client/caller.ts'
import type { Names } from '../dataset/names.ts'
import type { WriteNotes } from '../operation/write-notes.ts'
import type { Pacing } from '../session/pacing.ts'

/** Access to an academy. */
export interface Reader {
  readonly caller: Caller
  readonly names: Names
  readonly signal: AbortSignal
  /** Limits concurrent writes; slows down when the platform asks for that. */
  readonly pacing: Pacing
  /** Collects written fields that the platform does not show. */
  readonly notes: WriteNotes
}
