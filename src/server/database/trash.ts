import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Database, Row, Store } from './database.ts'
import { tables } from './schema/schema.ts'

/** How long what was deleted can be restored. */
export const trashDays = 30
const keptMs = trashDays * 24 * 60 * 60 * 1000
/** Rows in one transaction of a sweep: a few milliseconds' worth. */
const pieceRows = 500

/** What can be restored after it was deleted. */
export type Trashed = 'course' | 'lesson'

/** A table of which rows go with a course, and by what: its id, or through a lesson, a record of progress or a
 * grade. */
interface Part {
  readonly table: string
  readonly key: string
  readonly by: 'id' | 'course' | 'lesson' | 'progress' | 'grade'
}

/** In an order in which they can be written: each after those that it refers to. */
const parts: readonly Part[] = [
  { table: 'courses', key: 'id', by: 'id' },
  { table: 'course_versions', key: 'course_id, version', by: 'course' },
  { table: 'course_tags', key: 'course_id, tag', by: 'course' },
  { table: 'lessons', key: 'id', by: 'course' },
  { table: 'lesson_versions', key: 'lesson_id, version', by: 'lesson' },
  { table: 'enrollments', key: 'course_id, id', by: 'course' },
  { table: 'progress', key: 'course_id, user_id', by: 'course' },
  { table: 'progress_steps', key: 'course_id, user_id, version', by: 'progress' },
  { table: 'grades', key: 'course_id, user_id, source, item_id', by: 'course' },
  { table: 'grade_steps', key: 'grade_id, version', by: 'grade' },
  { table: 'course_grades', key: 'course_id, user_id', by: 'course' },
]

/** Those of them that go with a lesson alone. */
const lessonParts: readonly Part[] = [
  { table: 'lessons', key: 'id', by: 'id' },
  { table: 'lesson_versions', key: 'lesson_id, version', by: 'lesson' },
]

/** The tables that the trash keeps rows of, each in one called `deleted_…`. */
export const trashedTables: readonly string[] = parts.map(({ table }) => table)

/** The time before which what was deleted is gone for good, ISO 8601 in UTC. */
export function trashEnd(now: string): string {
  return new Date(Date.parse(now) - keptMs).toISOString()
}

/** Until when what was deleted at a time can be restored; both ISO 8601 in UTC. */
export function restorableUntil(deletedAt: string): string {
  return new Date(Date.parse(deletedAt) + keptMs).toISOString()
}

/** Copies a course or a lesson, with all that goes with it, to the trash, before it is deleted. */
export async function copyToTrash(
  database: Database,
  kind: Trashed,
  { id, courseId, userId, now }: Readonly<Record<'id' | 'courseId' | 'userId' | 'now', string>>,
): Promise<void> {
  for (const part of partsOf(kind)) {
    const { table } = part
    await database.run(sql`
      insert into ${raw(`deleted_${table}`)} (${columnsOf(table)})
      select ${columnsOf(table)} from ${raw(table)} where ${goesWith(part, kind, id, '')}`)
  }
  const counted = (table: string) =>
    kind === 'course' ? sql`(select count(*) from ${raw(table)} where course_id = ${id})` : sql`0`
  await database.run(sql`
    insert into deletions (id, kind, course_id, lessons, enrollments, progress, grades, user_id, deleted_at)
    values (${id}, ${kind}, ${courseId}, ${counted('lessons')}, ${counted('enrollments')}, ${counted('progress')},
            ${counted('course_grades')}, ${userId}, ${now})`)
}

/** Brings back what `copyToTrash` kept; lessons that were deleted before their course stay deleted. */
export async function takeFromTrash(database: Database, kind: Trashed, id: string): Promise<void> {
  await database.run(sql`delete from deletions where id = ${id}`)
  const own = partsOf(kind)
  for (const part of own) {
    const { table } = part
    await database.run(sql`
      insert into ${raw(table)} (${columnsOf(table)})
      select ${columnsOf(table)} from ${raw(`deleted_${table}`)} where ${goesBack(part, kind, id)}`)
  }
  if (kind === 'course')
    await database.run(sql`
    update enrollments set user_email = (select u.email from users u where u.id = enrollments.user_id)
    where course_id = ${id}`)
  for (const part of own.toReversed()) {
    await database.run(sql`delete from ${raw(`deleted_${part.table}`)} where ${goesBack(part, kind, id)}`)
  }
}

/** Removes a course or a lesson from the trash for good; with a course go its lessons, whenever they were deleted. */
export async function eraseFromTrash(database: Database, kind: Trashed, id: string): Promise<void> {
  for (const part of partsOf(kind).toReversed()) {
    await database.run(
      sql`delete from ${raw(`deleted_${part.table}`)} where ${goesWith(part, kind, id, 'deleted_')}`,
    )
  }
  await database.run(
    kind === 'course'
      ? sql`delete from deletions where course_id = ${id}`
      : sql`delete from deletions where id = ${id}`,
  )
}

/** Removes what can be restored no longer, in small transactions between which others write; at most so many of them. */
export async function sweepTrash(
  database: Pick<Store, 'write'>,
  now: Date,
  mostPieces: number,
): Promise<void> {
  const end = trashEnd(now.toISOString())
  for (let piece = 0; piece < mostPieces; piece += 1) {
    if (!(await database.write((transaction) => sweepPiece(transaction, end)))) return
  }
}

/** Removes some rows of what was deleted first; false where nothing has to go. */
async function sweepPiece(database: Database, end: string): Promise<boolean> {
  const first = await database.one<Row & { id: string; kind: Trashed }>(sql`
    select id, kind from deletions where deleted_at <= ${end} order by deleted_at, id limit 1`)
  if (!first) return false
  const { id, kind } = first
  for (const part of partsOf(kind).toReversed()) {
    const [table, key] = [raw(`deleted_${part.table}`), raw(part.key)]
    const removed = await database.run(sql`
      delete from ${table} where (${key}) in (
        select ${key} from ${table} where ${goesWith(part, kind, id, 'deleted_')} limit ${pieceRows})`)
    if (removed === pieceRows) return true
  }
  await database.run(sql`delete from deletions where id = ${id}`)
  return true
}

/** The columns that are stored of a deleted row. */
function columnsOf(table: string): Sql {
  const { columns = {} } = tables.find(({ name }) => name === `deleted_${table}`) ?? {}
  return raw(Object.keys(columns).join(', '))
}

function partsOf(kind: Trashed): readonly Part[] {
  return kind === 'course' ? parts : lessonParts
}

/** Which rows of a table, or of the one of the trash (`deleted_`), go with a course or a lesson. */
function goesWith({ by }: Part, kind: Trashed, id: string, where: '' | 'deleted_'): Sql {
  if (by === 'id') return sql`id = ${id}`
  if (by === 'lesson') {
    return kind === 'lesson'
      ? sql`lesson_id = ${id}`
      : sql`lesson_id in (select id from ${raw(`${where}lessons`)} where course_id = ${id})`
  }
  if (by === 'grade')
    return sql`grade_id in (select id from ${raw(`${where}grades`)} where course_id = ${id})`
  return by === 'progress' && where === ''
    ? sql`(user_id, course_id) in (select user_id, course_id from progress where course_id = ${id})`
    : sql`course_id = ${id}`
}

/** Which rows of a table of the trash come back with a course or a lesson. */
function goesBack(part: Part, kind: Trashed, id: string): Sql {
  const all = goesWith(part, kind, id, 'deleted_')
  const column = { lessons: 'id', lesson_versions: 'lesson_id' }[part.table]
  if (kind === 'lesson' || column === undefined) return all
  const alone = sql`select id from deletions where course_id = ${id} and kind = 'lesson'`
  return join([all, sql`${raw(column)} not in (${alone})`], ' and ')
}
