import sql from 'sql-template-tag'
import type { Database, Row } from './database.ts'
import { define, eachRow, fillRows } from './fill-rows.ts'
import { listColumns, listIndexes, parentIndexes } from './list-schema.ts'
import { searchIndex } from './search.ts'
import { courseSearchKey, titleKey, userSearchKey } from './stored-keys.ts'

/** Gives rows the columns by which they are sorted and searched. */
export async function addListKeys(database: Database): Promise<void> {
  await define(database, listColumns)
  // In SQLite, which has academies that are older, the one that was there first.
  const first = database.dialect.name === 'sqlite' ? sql`rowid` : sql`created_at, id`
  await database.run(sql`
    insert into settings (name, value) select 'first_user', id from users order by ${first} limit 1`)
  await fillRows<Row & { email: string; username: string | null; profile: string }>(
    database,
    'users',
    'id',
    sql`email, username, profile`,
    ({ email, username, profile }) =>
      sql`search_key = ${userSearchKey({ email, username, profile: JSON.parse(profile) as object })}`,
  )
  await fillRows<Row & { title: string; description: string }>(
    database,
    'courses',
    'id',
    sql`title, description`,
    (course) => sql`title_key = ${titleKey(course)}, search_key = ${courseSearchKey(course)}`,
  )
  await fillRows<Row & { title: string }>(
    database,
    'lessons',
    'id',
    sql`title`,
    (lesson) => sql`title_key = ${titleKey(lesson)}`,
  )
  await database.run(sql`
    update courses set
      level = case difficulty when 'beginner' then 0 when 'intermediate' then 1 when 'advanced' then 2 else 3 end`)
  await eachRow<Row & { id: string; attributes: string }>(
    database,
    'courses',
    'id',
    sql`id, attributes`,
    async ({ id, attributes }) => {
      // As the contract has them.
      const { tags = [] } = JSON.parse(attributes) as { tags?: string[] }
      for (const tag of new Set(tags)) {
        await database.run(sql`insert into course_tags (tag, course_id) values (${tag}, ${id})`)
      }
    },
  )
}

/** Gives lists the indexes by which a page costs no more in a large academy than in a small one. */
export async function addListIndexes(database: Database): Promise<void> {
  await define(database, listIndexes)
}

/** Makes users and courses searchable by any part of their texts. */
export async function addSearch(database: Database): Promise<void> {
  const { dialect } = database
  await define(database, [...searchIndex(dialect, 'users'), ...searchIndex(dialect, 'courses')])
}

/** Finds by an index what goes with a course, an application or a progress. */
export async function addParentIndexes(database: Database): Promise<void> {
  await define(database, parentIndexes)
}
