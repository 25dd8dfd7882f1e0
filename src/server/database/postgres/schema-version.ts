import sql from 'sql-template-tag'
import { type Database, DatabaseError, type Dialect, type Transaction } from '../database.ts'
import { type SchemaStep, stepsFrom } from '../schema/steps.ts'
import type { Connection } from './connection.ts'
import { openTransaction } from './transaction.ts'

const program = 'learnctl'
/** Advisory lock that a migrating server holds. */
const lock = 0x6c726e63
/**
 * A server that waited for the lock must see the other's migration; a stricter isolation would show the state before
 * it.
 */
const begin = 'begin isolation level read committed'

/**
 * Migrates a database to the newest version, step by step; an empty one becomes an academy. Of several servers that
 * start at once one migrates and the others wait for it. True if this one created the academy. Throws DatabaseError
 * for a database from a newer version, and for one of another program.
 *
 * @param shown name of the database in messages
 */
export async function migrate(
  connection: Connection,
  shown: string,
  steps: readonly SchemaStep[],
  dialect: Dialect,
): Promise<boolean> {
  let isNew = false
  const surroundings = { dialect, stream: noStream, nameOf: () => undefined }
  for (;;) {
    const transaction = openTransaction(connection, begin, surroundings)
    const { statements } = transaction
    try {
      const isCurrent = stepsFrom(await versionOf(statements, shown), steps, shown).length === 0
      if (!isCurrent) isNew = (await takeStep(statements, shown, steps)) === 0 || isNew
      await transaction.commit()
      if (isCurrent) return isNew
    } catch (error) {
      await transaction.rollback().catch(() => undefined)
      throw error
    }
  }
}

/** Runs one step and returns the version it started from; undefined if another server was first. */
async function takeStep(
  database: Transaction,
  shown: string,
  steps: readonly SchemaStep[],
): Promise<number | undefined> {
  // No lock timeout: the server cannot serve before the schema exists.
  await database.run(sql`set local lock_timeout = 0`)
  await database.run(sql`set local statement_timeout = 0`)
  await database.one(sql`select pg_advisory_xact_lock(${lock})`)
  const [step] = stepsFrom(await versionOf(database, shown), steps, shown)
  if (!step) return undefined
  if (step.from === 0) {
    await database.run(sql`create table schema_version (program text not null, version integer not null)`)
    await database.run(sql`insert into schema_version (program, version) values (${program}, 0)`)
  }
  await step.run(database)
  await database.run(sql`update schema_version set version = ${step.to}`)
  return step.from
}

async function versionOf(database: Database, shown: string): Promise<number> {
  // Ignores tables that belong to an extension.
  const tables = await database.all<{ name: string }>(sql`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not exists (select 1 from pg_depend where objid = pg_class.oid and deptype = 'e')`)
  if (tables.length === 0) return 0
  const columns = await database.all<{ name: string }>(sql`
    select attname as name from pg_attribute
    where attrelid = to_regclass(quote_ident(current_schema()) || '.schema_version') and attnum > 0 and not attisdropped`)
  const isMarked = ['program', 'version'].every((column) => columns.some(({ name }) => name === column))
  const mark = isMarked ? await database.one(sql`select program, version from schema_version`) : undefined
  if (mark?.['program'] !== program) {
    throw new DatabaseError(shown, 'is a PostgreSQL database of another program', {
      hint: 'Create one for learnctl alone, such as with `createdb academy`',
    })
  }
  return Number(mark['version'])
}

function noStream(): never {
  throw new Error('A step of the schema has one connection: it reads pages')
}
