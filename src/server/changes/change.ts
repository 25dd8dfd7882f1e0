import type { Action } from '../../contract/actions.ts'
import { appendEntry } from '../audit/append.ts'
import { differs } from '../audit/details.ts'
import type { Writing } from '../audit/entry.ts'
import { enqueue } from '../outbox/enqueue.ts'

/** A change of one thing: what was done, and the thing as the API shows it before and after; null where there is none. */
export interface Change {
  readonly action: Action
  readonly id: string
  readonly before: object | null
  readonly after: object | null
  /** The fields that differ, where that is known; those that this action tells of, where another one tells of the others. */
  readonly fields?: readonly string[]
}

/** What has a history of its own: nobody needs a second one of the write that comes most often. */
const unaudited = /^progress\./

/**
 * Tells of a change, in the transaction that makes it: whatever writes calls this, and what follows from every change is
 * made here. Secrets are no part of what is told.
 */
export async function recordChange(call: Writing, change: Change): Promise<void> {
  await enqueue(call, change)
  if (!unaudited.test(change.action)) await appendEntry(call, change)
}

/** What a change of status takes along. */
const statusFields = ['status', 'publishedAt', 'archivedAt', 'completedAt']

/**
 * Tells of an update: of a new status by the action that it has, of all else as `updated`; of nothing where nothing
 * changed.
 */
export async function recordUpdate<Thing extends { readonly id: string; readonly status?: string }>(
  call: Writing,
  noun: 'course' | 'lesson' | 'user' | 'enrollment',
  before: Thing,
  after: Thing,
  byStatus?: Action,
): Promise<void> {
  const changed = Object.keys(after).filter((field) =>
    differs(before[field as keyof Thing], after[field as keyof Thing]),
  )
  const isMoved = byStatus !== undefined && before.status !== after.status
  const moved = isMoved ? changed.filter((field) => statusFields.includes(field)) : []
  const others = changed.filter((field) => !moved.includes(field))
  const isUpdated = others.some((field) => field !== 'version' && field !== 'updatedAt')
  const both = { id: after.id, before, after }
  if (isUpdated) await recordChange(call, { action: `${noun}.updated`, ...both, fields: others })
  if (!isMoved) return
  await recordChange(call, { action: byStatus, ...both, fields: isUpdated ? moved : changed })
}
