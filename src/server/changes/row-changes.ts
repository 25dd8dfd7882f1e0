import sql, { join, type Sql } from 'sql-template-tag'
import { type Action, nounOf } from '../../contract/actions.ts'
import type { Database, Store, Transaction } from '../database/database.ts'
import { changedKinds, type RowChange, type Writing } from './writing.ts'

interface RecordedChange {
  readonly action: Action
  readonly id: string
  readonly before: object | null
  readonly after: object | null
}

export function rowChangeOf({ action, id, before, after }: RecordedChange): readonly RowChange[] {
  // A completion comes with an update.
  if (action === 'user.password_changed' || action === 'progress.completed') return []
  const kind = changedKinds.find((one) => one === nounOf(action))
  if (!kind) return []
  const record = (after ?? before ?? {}) as Readonly<Record<string, unknown>>
  const textOf = (field: string) => (typeof record[field] === 'string' ? String(record[field]) : null)
  const userId = textOf('learnerId') ?? textOf('userId')
  return [
    { kind, id: kind === 'progress' ? String(record['version']) : id, userId, courseId: textOf('courseId') },
  ]
}

/** Rows of one statement: fewer parameters than SQLite allows. */
const atOnce = 500

/** Adds changed rows to the feed, in the transaction that changes them; those of a batch at its end. */
export function storeRowChanges(
  { database, now, batch }: Pick<Writing, 'database' | 'now' | 'batch'>,
  changes: readonly RowChange[],
): void {
  if (batch) {
    batch.rowChanges.push(...changes)
    return
  }
  const at = Date.parse(now)
  const { own } = database.dialect.commitOrder
  for (let index = 0; index < changes.length; index += atOnce) {
    const rows = changes
      .slice(index, index + atOnce)
      .map(
        ({ kind, id, userId, courseId }) =>
          sql`(cast(${randomItem()} as bigint), ${kind}, ${id}, ${userId}, ${courseId}, cast(${at} as bigint))`,
      )
    // Repeated in each row, the subquery makes the insert four times as slow on SQLite.
    database.queue(sql`
      insert into row_changes (commit_order, item, kind, id, user_id, course_id, changed_at)
      select ${own}, rows.* from (values ${join(rows)}) rows`)
  }
}

/** Returns a random number of 52 bits: no two academies have the same row, even if one began as a copy of the other. */
function randomItem(): number {
  return Math.floor(Math.random() * 2 ** 52)
}

export function storeRestoredCourse(call: Pick<Writing, 'database' | 'now'>, courseId: string): void {
  const ofCourse = sql`t.course_id = ${courseId}`
  storeRowsOf(call, [
    { kind: 'lesson', from: sql`lessons t`, where: ofCourse, id: sql`t.id`, userId: sql`null` },
    { kind: 'enrollment', from: sql`enrollments t`, where: ofCourse, id: sql`t.id`, userId: sql`t.user_id` },
    {
      kind: 'progress',
      from: sql`progress p cross join progress_steps t`,
      where: sql`p.course_id = ${courseId} and t.user_id = p.user_id and t.course_id = p.course_id`,
      id: sql`cast(t.version as text)`,
      userId: sql`t.user_id`,
    },
    { kind: 'grade', from: sql`grades t`, where: ofCourse, id: sql`t.id`, userId: sql`t.user_id` },
  ])
}

/** Adds the rows of a restored user, which the feed does not show while the user is deleted. */
export function storeRestoredUser(call: Pick<Writing, 'database' | 'now'>, userId: string): void {
  const ofUser = sql`t.user_id = ${userId}`
  storeRowsOf(call, [
    { kind: 'enrollment', from: sql`enrollments t`, where: ofUser, id: sql`t.id`, userId: sql`t.user_id` },
    {
      kind: 'progress',
      from: sql`progress_steps t`,
      where: ofUser,
      id: sql`cast(t.version as text)`,
      userId: sql`t.user_id`,
    },
    { kind: 'grade', from: sql`grades t`, where: ofUser, id: sql`t.id`, userId: sql`t.user_id` },
  ])
}

interface StoredRows {
  readonly kind: RowChange['kind']
  readonly from: Sql
  readonly where: Sql
  readonly id: Sql
  readonly userId: Sql
}

function storeRowsOf({ database, now }: Pick<Writing, 'database' | 'now'>, all: readonly StoredRows[]): void {
  const { own } = database.dialect.commitOrder
  const at = Date.parse(now)
  for (const { kind, from, where, id, userId } of all) {
    database.queue(sql`
      insert into row_changes (commit_order, item, kind, id, user_id, course_id, changed_at)
      select ${own}, cast(${randomItem()} as bigint) + row_number() over (), cast(${kind} as text), ${id}, ${userId}, t.course_id, cast(${at} as bigint)
      from ${from} where ${where}`)
  }
}

const dayMs = 24 * 60 * 60 * 1000
const retentionMs = 180 * dayMs
/** Rows per transaction of a sweep: a few milliseconds of work. */
const sweptAtOnce = 500

/** Removes the oldest changes in small transactions, up to a maximum number; the newest one stays, which cursors point to. */
export async function sweepRowChanges(
  database: Pick<Store, 'write'>,
  now: Date,
  maxBatches = 100,
): Promise<void> {
  const before = now.getTime() - retentionMs
  for (let batch = 0; batch < maxBatches; batch += 1) {
    if ((await database.write((transaction) => sweepBatch(transaction, before))) < sweptAtOnce) return
  }
}

function sweepBatch(database: Transaction | Database, before: number): Promise<number> {
  return database.run(sql`
    delete from row_changes where (commit_order, item) in (
      select commit_order, item from (
        select commit_order, item, changed_at from row_changes order by commit_order, item limit ${sweptAtOnce}) oldest
      where changed_at < ${before})
    and (commit_order, item) < (select commit_order, item from row_changes order by commit_order desc, item desc limit 1)`)
}

/** Tells an erased user from a deleted one. */
export function erasedAddress(userId: string): string {
  return `erased-${userId.replace('_', '-')}@erased.invalid`
}
