import sql from 'sql-template-tag'
import type { Database } from './database.ts'

/** Replaces an earlier value. */
export async function writeSetting(database: Database, name: string, value: string): Promise<void> {
  await database.run(sql`
    insert into settings (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`)
}
