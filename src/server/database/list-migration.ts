import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database, Row } from './database.ts'
import { listColumns, listIndexes, parentIndexes } from './list-schema.ts'
import { searchIndex } from './search.ts'
import { courseSearchKey, titleKey, userSearchKey } from './stored-keys.ts'

/** Rows held in memory at a time. */
const atOnce = 500

/** Gives rows the columns by which they are sorted and searched. */
export async function addListKeys(database: Database): Promise<void> {
  for (const statement of listColumns) await database.run(statement)
  await database.run(sql`
    insert into settings (name, value) select 'first_user', id from users order by rowid limit 1`)
  await fill<Row & { id: string; email: string; username: string | null; profile: string }>(
    database,
    'users',
    'email, username, profile',
    ({ profile, ...user }) =>
      sql`search_key = ${userSearchKey({ ...user, profile: JSON.parse(profile) as object })}`,
  )
  await fill<Row & { id: string; title: string; description: string }>(
    database,
    'courses',
    'title, description',
    (course) => sql`title_key = ${titleKey(course)}, search_key = ${courseSearchKey(course)}`,
  )
  await fill<Row & { id: string; title: string }>(
    database,
    'lessons',
    'title',
    (lesson) => sql`title_key = ${titleKey(lesson)}`,
  )
  await database.run(sql`
    update courses set
      level = case difficulty when 'beginner' then 0 when 'intermediate' then 1 when 'advanced' then 2 else 3 end`)
  await database.run(sql`
    insert or ignore into course_tags (tag, course_id)
    select tags.value, c.id from courses c, json_each(c.attributes, '$.tags') tags`)
}

/** Gives lists the indexes by which a page costs no more in a large academy than in a small one. */
export async function addListIndexes(database: Database): Promise<void> {
  for (const statement of listIndexes) await database.run(statement)
}

/** Makes users and courses searchable by any part of their texts. */
export async function addSearch(database: Database): Promise<void> {
  for (const statement of [...searchIndex('users'), ...searchIndex('courses')]) await database.run(statement)
}

/** Finds by an index what goes with a course, an application or a progress. */
export async function addParentIndexes(database: Database): Promise<void> {
  for (const statement of parentIndexes) await database.run(statement)
}

/** Sets columns of every row of a table, some hundred at a time. */
async function fill<Shape extends Row & { id: string }>(
  database: Database,
  table: string,
  columns: string,
  set: (row: Shape) => Sql,
): Promise<void> {
  for (let last = ''; ; ) {
    const rows = await database.all<Shape>(
      sql`select id, ${raw(columns)} from ${raw(table)} where id > ${last} order by id limit ${atOnce}`,
    )
    for (const row of rows) await database.run(sql`update ${raw(table)} set ${set(row)} where id = ${row.id}`)
    const end = rows.at(-1)
    if (!end) return
    last = end.id
  }
}
