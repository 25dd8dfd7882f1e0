import sql from 'sql-template-tag'
import { type Database, DatabaseError, type Dialect, type Transaction } from '../database.ts'
import type { Connection } from './connection.ts'
import { openTransaction } from './transaction.ts'

/** One step of the schema, in one transaction of its own. */
export type Step = (transaction: Transaction) => Promise<void>

const program = 'learnctl'
/** The lock that is held by whoever migrates: of this program, in this database. */
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
  steps: readonly Step[],
  dialect: Dialect,
): Promise<boolean> {
  let isNew = false
  const surroundings = { dialect, stream: noStream, textOf: (text: string) => text, nameOf: () => undefined }
  for (;;) {
    const transaction = openTransaction(connection, begin, surroundings)
    const { statements } = transaction
    try {
      const version = await versionOf(statements, shown, steps.length)
      if (version < steps.length) isNew = (await takeStep(statements, shown, steps)) === 0 || isNew
      await transaction.commit()
      if (version === steps.length) return isNew
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
  steps: readonly Step[],
): Promise<number | undefined> {
  // However long the others take: nothing is served before the schema is there.
  await database.run(sql`set local lock_timeout = 0`)
  await database.run(sql`set local statement_timeout = 0`)
  await database.one(sql`select pg_advisory_xact_lock(${lock})`)
  const version = await versionOf(database, shown, steps.length)
  const step = steps[version]
  if (!step) return undefined
  if (version === 0) {
    await database.run(sql`create table schema_version (program text not null, version integer not null)`)
    await database.run(sql`insert into schema_version (program, version) values (${program}, 0)`)
  }
  await step(database)
  await database.run(sql`update schema_version set version = ${version + 1}`)
  return version
}

async function versionOf(database: Database, shown: string, newest: number): Promise<number> {
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
  const version = Number(mark['version'])
  if (version <= newest) return version
  throw new DatabaseError(
    shown,
    `was written by a newer version of learnctl (schema version ${version}; this version supports up to ${newest})`,
  )
}

function noStream(): never {
  throw new Error('A migration has one connection: it reads pages')
}
