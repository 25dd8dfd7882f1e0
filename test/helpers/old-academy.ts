import { readFileSync, truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { applicationId } from '../../src/server/database/sqlite/academy-file.ts'
import { asSuperuser, makeDatabase, type OwnDatabase } from './postgres.ts'

/** Version of the schema at commit 9430e96, the oldest one that can be upgraded. */
export const oldVersion = 20

/** Dump of a SQLite academy of that commit, with a few records of every kind. */
const text = readFileSync(new URL('./old-academy.sql', import.meta.url), 'utf8')

/** Makes an academy of the oldest version in a file. */
export function makeOldAcademy(path: string): void {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  database.exec(`begin; ${text}; commit`)
  database.exec(
    `pragma journal_mode = wal; pragma application_id = ${applicationId}; pragma user_version = ${oldVersion}`,
  )
  database.close()
}

/** The same in a file as large as one that takes long to upgrade: it ends in a hole. */
export function makeLargeOldAcademy(path: string): void {
  makeOldAcademy(path)
  truncateSync(path, 100 * 1024 * 1024)
}

/** Makes the same academy on PostgreSQL, with the tables of that commit. */
export async function makeOldAcademyOnPostgres(): Promise<OwnDatabase> {
  const ownOfSqlite = /^create (virtual|trigger|table \w+_numbers)|^insert into \w+_search /
  const statements = text.split(/;\n(?=create|insert)/).filter((statement) => !ownOfSqlite.test(statement))
  const database = await makeDatabase()
  await asSuperuser(
    [
      'create extension pg_trgm',
      // Some rows come before those that they refer to.
      'set session_replication_role = replica',
      ...statements.map(asOnPostgres),
      ...['users', 'courses'].map(
        (name) => `create index ${name}_search on ${name} using gin (search_key gin_trgm_ops)`,
      ),
      'create table schema_version (program text not null, version integer not null)',
      `insert into schema_version values ('learnctl', ${oldVersion})`,
    ],
    database.url,
  )
  return database
}

function asOnPostgres(statement: string): string {
  if (!statement.startsWith('create table')) return statement
  const types = { integer: 'bigint', real: 'double precision', text: 'text collate "C"' }
  return statement
    .replace(/\) strict(, without rowid)?;?\s*$/, ')')
    .replace(/\b(profile|attributes) text\b/g, '$1 json')
    .replace(
      /\b(\w+) (text|integer|real)\b/g,
      (_, column, type: keyof typeof types) => `${column} ${types[type]}`,
    )
}

/** Blocks other writers, such as the upgrade under test, until the database is closed. */
export function lockForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec('begin immediate')
  return database
}
