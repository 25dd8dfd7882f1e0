import sql, { join, type Sql } from 'sql-template-tag'
import { type Action, nounOf } from '../../contract/actions.ts'
import type { ChangedRecord } from '../../contract/changes.ts'
import { type Asking, seenOnly, visibleUsers, wasTaught } from '../access/sight.ts'
import type { Row } from '../database/database.ts'
import { type EntryRow, toEntry } from './audit-log.ts'

/** A record that decides whether the caller sees an entry: its user, its course or its group. */
interface Decisive {
  readonly table: Table
  readonly id: string
}

type Table = 'users' | 'courses' | 'groups' | 'enrollments' | 'grades'

/**
 * Returns what a change did to records, as its entries in the audit log say. Of records about people whom the caller does
 * not see any more, only the id and the action are left.
 */
export async function changedRecords(call: Asking, rows: readonly EntryRow[]): Promise<ChangedRecord[]> {
  if (call.principal.sees === 'all') return rows.map(toRecord)
  const entries = rows.map((row) => ({ record: toRecord(row), decisive: decisiveOf(row) }))
  const seen = await findSeen(
    call,
    entries.flatMap(({ decisive }) => decisive ?? []),
  )
  return entries.map(({ record, decisive }) =>
    decisive && !seen.has(decisive.id)
      ? { ...record, subjectName: null, isErased: true, before: null, after: null }
      : record,
  )
}

function toRecord(row: EntryRow): ChangedRecord {
  const { id, at, noun, action, subjectId, subjectName, detailsSalt, before, after } = toEntry(row)
  return { id, at, noun, action, subjectId, subjectName, isErased: detailsSalt === null, before, after }
}

/** Undefined if the entry is about no person. */
function decisiveOf(row: EntryRow): Decisive | undefined {
  const { subjectId, aboutId, before, after } = toEntry(row)
  const noun = nounOf(row.action as Action)
  if (noun === 'user') return { table: 'users', id: subjectId ?? '' }
  if (aboutId === null) return undefined
  // Of an update, only the fields that changed are recorded.
  const { courseId, groupId } = { ...before, ...after }
  if (typeof courseId === 'string') return { table: 'courses', id: courseId }
  if (typeof groupId === 'string') return { table: 'groups', id: groupId }
  if (noun === 'enrollment') return { table: 'enrollments', id: subjectId ?? '' }
  if (noun === 'grade') return { table: 'grades', id: subjectId ?? '' }
  return { table: 'users', id: aboutId }
}

/** Includes those of a course, deleted or not, that the caller teaches. */
async function findSeen(call: Asking, decisive: readonly Decisive[]): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  for (const [table, some] of Map.groupBy(decisive, (one) => one.table)) {
    const ids = [...new Set(some.map(({ id }) => id))]
    for (const row of await call.database.all<Row & { id: string }>(seenAmong(call, table, ids)))
      seen.add(row.id)
  }
  return seen
}

function seenAmong(call: Asking, table: Table, ids: readonly string[]): Sql {
  const isOne = sql`r.id in (${join([...ids])})`
  switch (table) {
    case 'users':
      return sql`select r.id from users r where ${seenOnly(isOne, visibleUsers(call, 'r'))}`
    case 'courses':
      return sql`
        select r.id from courses r where ${seenOnly(isOne, wasTaught(call, sql`r.id`))}
        union all select r.id from deleted_courses r where ${seenOnly(isOne, wasTaught(call, sql`r.id`))}`
    case 'groups':
      return sql`
        select r.id from groups r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}
        union all select r.id from deleted_groups r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}`
    case 'enrollments':
      return sql`select r.id from enrollments r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}`
    case 'grades':
      return sql`select r.id from grades r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}`
  }
}
