import type { Delivery } from '../../../contract/deliveries.ts'
import type { Grade } from '../../../contract/grades.ts'
import type { Progress } from '../../../contract/progress.ts'

/** Whom and what an event is about, as far as that is known here. */
export interface Subject {
  readonly userId: string | null
  readonly courseId: string | null
}

/** What became of an event. */
export interface Outcome extends Subject {
  readonly status: Delivery['status']
  /** Why nothing was done, in one word; null where something was. */
  readonly reason: string | null
  /** The same as a sentence, where there is more to say. */
  readonly detail: string | null
  readonly missing: Delivery['missing']
  readonly grade: Grade | null
  readonly progress: Progress | null
}

/** Nothing done, and nothing to tell. */
export const nothing: Omit<Outcome, 'status'> = {
  reason: null,
  detail: null,
  missing: [],
  userId: null,
  courseId: null,
  grade: null,
  progress: null,
}

/** What a delivery that changes nothing may still do once the integration says more. */
const replayableReasons: readonly string[] = ['no_maximum']

/** True where nothing is left to be done with a delivery after this outcome. */
export function isDone({ status }: Pick<Outcome, 'status'>): boolean {
  return status === 'applied' || status === 'stale'
}

/** True where the payload is of use after this outcome: that of an event about something else is not kept. */
export function keepsBody({ status, reason }: Pick<Outcome, 'status' | 'reason'>): boolean {
  return status !== 'ignored' || replayableReasons.includes(reason ?? '')
}
