import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Database, Row, Store } from './database.ts'
import { tables } from './schema/schema.ts'

const trashDays = 30
const retentionMs = trashDays * 24 * 60 * 60 * 1000
/** Per transaction of a sweep: a few milliseconds of work. */
const batchRows = 500

export type Trashed = 'course' | 'lesson' | 'group'

/** The link is the course id, or a lesson, a progress record, a grade or a group. */
interface Part {
  readonly table: string
  readonly key: string
  readonly by: 'id' | 'course' | 'lesson' | 'progress' | 'grade' | 'group'
}

/** In insertion order: each table after the tables it refers to. */
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
  { table: 'line_items', key: 'id', by: 'course' },
  { table: 'results', key: 'grade_id', by: 'grade' },
  { table: 'course_grades', key: 'course_id, user_id', by: 'course' },
  { table: 'groups', key: 'id', by: 'course' },
  { table: 'group_members', key: 'group_id, id', by: 'group' },
]

const lessonParts: readonly Part[] = [
  { table: 'lessons', key: 'id', by: 'id' },
  { table: 'lesson_versions', key: 'lesson_id, version', by: 'lesson' },
]

const groupParts: readonly Part[] = [
  { table: 'groups', key: 'id', by: 'id' },
  { table: 'group_members', key: 'group_id, id', by: 'group' },
]

/** They have a counterpart `deleted_…`. */
export const trashedTables: readonly string[] = parts.map(({ table }) => table)

/** ISO 8601 in UTC. */
export function trashEnd(now: string): string {
  return new Date(Date.parse(now) - retentionMs).toISOString()
}

/** Both are ISO 8601 in UTC. */
export function restorableUntil(deletedAt: string): string {
  return new Date(Date.parse(deletedAt) + retentionMs).toISOString()
}

/** Before the record is deleted. */
export async function copyToTrash(
  database: Database,
  kind: Trashed,
  { id, courseId, userId, now }: Readonly<Record<'id' | 'courseId' | 'userId' | 'now', string>>,
): Promise<void> {
  for (const part of partsOf(kind)) {
    const { table } = part
    await database.run(sql`
      insert into ${raw(`deleted_${table}`)} (${columnsOf(table)})
      select ${columnsOf(table)} from ${raw(table)} where ${belongsTo(part, kind, id, '')}`)
  }
  const counted = (table: string) =>
    kind === 'course' ? sql`(select count(*) from ${raw(table)} where course_id = ${id})` : sql`0`
  const members = kind === 'group' ? sql`(select count(*) from group_members where group_id = ${id})` : sql`0`
  await database.run(sql`
    insert into deletions (id, kind, course_id, lessons, enrollments, progress, grades, groups, members, user_id, deleted_at)
    values (${id}, ${kind}, ${courseId}, ${counted('lessons')}, ${counted('enrollments')}, ${counted('progress')},
            ${counted('course_grades')}, ${counted('groups')}, ${members}, ${userId}, ${now})`)
}

/** What was deleted before its course stays deleted. */
export async function takeFromTrash(database: Database, kind: Trashed, id: string): Promise<void> {
  await database.run(sql`delete from deletions where id = ${id}`)
  const own = partsOf(kind)
  for (const part of own) {
    const { table } = part
    await database.run(sql`
      insert into ${raw(table)} (${columnsOf(table)})
      select ${columnsOf(table)} from ${raw(`deleted_${table}`)} where ${isRestoredWith(part, kind, id)}`)
  }
  if (kind === 'course')
    await database.run(sql`
    update enrollments set user_email = (select u.email from users u where u.id = enrollments.user_id)
    where course_id = ${id}`)
  for (const part of own.toReversed()) {
    await database.run(
      sql`delete from ${raw(`deleted_${part.table}`)} where ${isRestoredWith(part, kind, id)}`,
    )
  }
}

/** Removes a course, with all of its deleted lessons and groups, a lesson or a group from the trash for good. */
export async function eraseFromTrash(database: Database, kind: Trashed, id: string): Promise<void> {
  for (const part of partsOf(kind).toReversed()) {
    await database.run(
      sql`delete from ${raw(`deleted_${part.table}`)} where ${belongsTo(part, kind, id, 'deleted_')}`,
    )
  }
  await database.run(
    kind === 'course'
      ? sql`delete from deletions where course_id = ${id}`
      : sql`delete from deletions where id = ${id}`,
  )
}

/** In small transactions that let other writes through. */
export async function sweepTrash(
  database: Pick<Store, 'write'>,
  now: Date,
  maxBatches: number,
): Promise<void> {
  const end = trashEnd(now.toISOString())
  for (let batch = 0; batch < maxBatches; batch += 1) {
    if (!(await database.write((transaction) => sweepBatch(transaction, end)))) return
  }
}

/** False if none has expired. */
async function sweepBatch(database: Database, end: string): Promise<boolean> {
  const first = await database.one<Row & { id: string; kind: Trashed }>(sql`
    select id, kind from deletions where deleted_at <= ${end} order by deleted_at, id limit 1`)
  if (!first) return false
  const { id, kind } = first
  for (const part of partsOf(kind).toReversed()) {
    const [table, key] = [raw(`deleted_${part.table}`), raw(part.key)]
    const removed = await database.run(sql`
      delete from ${table} where (${key}) in (
        select ${key} from ${table} where ${belongsTo(part, kind, id, 'deleted_')} limit ${batchRows})`)
    if (removed === batchRows) return true
  }
  await database.run(sql`delete from deletions where id = ${id}`)
  return true
}

function columnsOf(table: string): Sql {
  const { columns = {} } = tables.find(({ name }) => name === `deleted_${table}`) ?? {}
  return raw(Object.keys(columns).join(', '))
}

function partsOf(kind: Trashed): readonly Part[] {
  return { course: parts, lesson: lessonParts, group: groupParts }[kind]
}

/** `where` is the prefix of a trash table. */
function belongsTo({ by }: Part, kind: Trashed, id: string, where: '' | 'deleted_'): Sql {
  if (by === 'id') return sql`id = ${id}`
  if (by === 'lesson' || by === 'group' || by === 'grade') {
    const column = raw(`${by}_id`)
    if (by === kind) return sql`${column} = ${id}`
    return sql`${column} in (select id from ${raw(`${where}${by}s`)} where course_id = ${id})`
  }
  return by === 'progress' && where === ''
    ? sql`(user_id, course_id) in (select user_id, course_id from progress where course_id = ${id})`
    : sql`course_id = ${id}`
}

function isRestoredWith(part: Part, kind: Trashed, id: string): Sql {
  const all = belongsTo(part, kind, id, 'deleted_')
  const column = { lessons: 'id', lesson_versions: 'lesson_id', groups: 'id', group_members: 'group_id' }[
    part.table
  ]
  if (kind !== 'course' || column === undefined) return all
  const alone = sql`select id from deletions where course_id = ${id} and kind in ('lesson', 'group')`
  return join([all, sql`${raw(column)} not in (${alone})`], ' and ')
}
