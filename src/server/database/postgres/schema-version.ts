import sql from 'sql-template-tag'
import { type Database, DatabaseError, type Dialect, type Transaction } from '../database.ts'
import { type SchemaStep, stepsFrom } from '../schema/steps.ts'
import type { Connection } from './connection.ts'
import { openTransaction } from './transaction.ts'

const program = 'learnctl'
/** The advisory lock of the server that migrates: of this program, in this database. */
const lock = 0x6c726e63
/** What waited for the lock sees what was done meanwhile: a stricter transaction would see the state before it. */
const begin = 'begin isolation level read committed'

/**
 * Brings a database to the newest version, one step after the other; an empty one becomes an academy. Of several servers
 * that start at once one migrates, and the others wait for it. True where this one made the academy. Throws DatabaseError
 * for a database from a newer version, and for one that is not ours.
 *
 * @param shown what messages call the database
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

/** The version from which it led on; undefined where another server was first. */
async function takeStep(
  database: Transaction,
  shown: string,
  steps: readonly SchemaStep[],
): Promise<number | undefined> {
  // However long the others take: nothing is served before the schema is there.
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
  // What an extension keeps is no other program's.
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
