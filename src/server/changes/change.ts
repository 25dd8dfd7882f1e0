import { type Action, nounOf } from '../../contract/actions.ts'
import { appendEntry, isDifferent } from './audit-entry.ts'
import { enqueue } from './event-queue.ts'
import { rowChangeOf, storeRowChanges } from './row-changes.ts'
import { countAction, type Writing } from './writing.ts'

/** A change of one record: the action, and the record as the API shows it before and after; null where there is none. */
export interface Change {
  readonly action: Action
  readonly id: string
  readonly before: object | null
  readonly after: object | null
  /** The fields that differ, where that is known; where two actions tell of one update, those of this one. */
  readonly fields?: readonly string[]
}

/**
 * Records a change in the transaction that makes it, after its statements: events, the audit log and the feed of changed
 * rows follow from the record before and after. The deletion of a course is recorded before its rows go. Secrets are left out.
 */
export async function recordChange(call: Writing, change: Change): Promise<void> {
  storeRowChanges(call, rowChangeOf(change))
  await publishChange(call, change)
}

/**
 * Records an update: a new status by the action of that status, all other fields as `updated`; nothing where nothing
 * changed.
 */
export async function recordUpdate<Thing extends { readonly id: string; readonly status?: string }>(
  call: Writing,
  noun: 'course' | 'lesson' | 'user' | 'term' | 'enrollment' | 'group',
  before: Thing,
  after: Thing,
  byStatus?: Action,
): Promise<void> {
  const changed = Object.keys(after).filter((field) =>
    isDifferent(before[field as keyof Thing], after[field as keyof Thing]),
  )
  const isMoved = byStatus !== undefined && before.status !== after.status
  const moved = isMoved ? changed.filter((field) => statusFields.includes(field)) : []
  const others = changed.filter((field) => !moved.includes(field))
  const isUpdated = others.some((field) => field !== 'version' && field !== 'updatedAt')
  const both = { id: after.id, before, after }
  if (isUpdated || isMoved) storeRowChanges(call, rowChangeOf({ action: `${noun}.updated`, ...both }))
  if (isUpdated) await publishChange(call, { action: `${noun}.updated`, ...both, fields: others })
  if (isMoved) await publishChange(call, { action: byStatus, ...both, fields: isUpdated ? moved : changed })
}

const statusFields = ['status', 'publishedAt', 'archivedAt', 'completedAt']

export async function recordLearning(call: Writing, changes: readonly Change[]): Promise<void> {
  storeRowChanges(call, changes.flatMap(rowChangeOf))
  for (const change of changes) await publishChange(call, change)
}

async function publishChange(call: Writing, change: Change): Promise<void> {
  await enqueue(call, change)
  if (call.change) countAction(call.change, change.action)
  // Progress has a history of its own.
  if (nounOf(change.action) === 'progress') return
  // The audit log keeps nothing of an erased user.
  await appendEntry(call, change.action === 'user.erased' ? { ...change, before: null } : change)
}
