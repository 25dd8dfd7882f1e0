import type { Delivery } from '../../../contract/deliveries.ts'
import type { Grade } from '../../../contract/grades.ts'
import type { Progress } from '../../../contract/progress.ts'

/** The user and the course of an event, if they are known. */
export interface Subject {
  readonly userId: string | null
  readonly courseId: string | null
}

/** Result of an event. */
export interface Outcome extends Subject {
  readonly status: Delivery['status']
  /** Why nothing was done, in one word; null if something was. */
  readonly reason: string | null
  /** The reason as a sentence, if there is more to say. */
  readonly detail: string | null
  readonly missing: Delivery['missing']
  readonly grade: Grade | null
  readonly progress: Progress | null
}

/** Nothing was done. */
export const nothing: Omit<Outcome, 'status'> = {
  reason: null,
  detail: null,
  missing: [],
  userId: null,
  courseId: null,
  grade: null,
  progress: null,
}

/** Reasons that a change of the integration can remove. */
const replayableReasons: readonly string[] = ['no_maximum']

/** True if a delivery is finished. */
export function isDone({ status }: Pick<Outcome, 'status'>): boolean {
  return status === 'applied' || status === 'stale'
}

/** True if the payload may be needed again; that of an unrelated event is not stored. */
export function keepsBody({ status, reason }: Pick<Outcome, 'status' | 'reason'>): boolean {
  return status !== 'ignored' || replayableReasons.includes(reason ?? '')
}
