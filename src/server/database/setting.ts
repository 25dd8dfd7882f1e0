import sql from 'sql-template-tag'
import type { Database } from './database.ts'

/** Stores a value in the table of settings, in place of an earlier one. */
export async function writeSetting(database: Database, name: string, value: string): Promise<void> {
  await database.run(sql`
    insert into settings (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`)
}
