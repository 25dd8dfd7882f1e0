import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { rebuildCounters } from '../../src/server/counters/recount.ts'
import type { Store } from '../../src/server/database/database.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { dialect } from '../../src/server/database/postgres/dialect.ts'
import { openPostgres } from '../../src/server/database/postgres/open-postgres.ts'
import type { PostgresOptions } from '../../src/server/database/postgres/reach-postgres.ts'
import { createAcademy, tables } from '../../src/server/database/schema/schema.ts'
import { schemaSteps } from '../../src/server/database/schema/steps.ts'
import { tableStatements } from '../../src/server/database/schema/table.ts'

/** A superuser's URL of a PostgreSQL for tests, as .ci/postgres makes one; empty where there is none. */
export const postgresUrl = process.env['LEARNCTL_TEST_POSTGRES'] ?? ''

/** Why a test that needs a real PostgreSQL does not run; false where it does. */
export const withoutPostgres =
  postgresUrl === '' && 'needs a PostgreSQL: run it by .ci/postgres, or set LEARNCTL_TEST_POSTGRES'

const now = () => new Date('2026-03-01T12:00:00Z')
/** What makes an academy of an empty database, and upgrades one. */
export const steps = schemaSteps({
  now: now().toISOString(),
  newId: idMaker(now),
  newSecret: () => 'a key for tests',
  rebuildCounters,
})

/** Runs statements one after the other as the superuser, on the database that this URL names. */
export async function asSuperuser(statements: readonly string[], url = postgresUrl): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The same URL with other parts. */
export function urlWith(
  url: string,
  parts: Partial<Record<'pathname' | 'username' | 'password' | 'host', string>>,
): string {
  return Object.assign(new URL(url), parts).href
}

/** A database of its own, by its URL, and what removes it. */
export interface OwnDatabase {
  readonly name: string
  readonly url: string
  readonly remove: () => Promise<void>
}

/** An empty database, or a copy of a template. */
export async function makeDatabase(from = 'template0'): Promise<OwnDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await asSuperuser([`create database ${name} template ${from}`])
  return {
    name,
    url: urlWith(postgresUrl, { pathname: name }),
    remove: () => asSuperuser([`drop database ${name} with (force)`]),
  }
}

/** A database with the schema in it: a copy, which takes some 70 ms, of one that is made once on each server. */
export async function makeAcademyDatabase(): Promise<OwnDatabase> {
  const made = tables.flatMap((table) => tableStatements(dialect, table)).map(({ sql }) => sql)
  const text = [...made, String(createAcademy)].join()
  const template = `template_${createHash('sha256').update(text).digest('hex').slice(0, 20)}`
  const client = new pg.Client(postgresUrl)
  await client.connect()
  try {
    // Several test files begin at once.
    await client.query('select pg_advisory_lock(1)')
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template])
    if (rowCount === 0) {
      await client.query(`create database ${template}_new template template0`)
      const { store } = await openPostgres(
        { url: urlWith(postgresUrl, { pathname: `${template}_new` }), env: {} },
        steps,
      )
      await store.close()
      await client.query(`alter database ${template}_new rename to ${template}`)
    }
  } finally {
    await client.end()
  }
  return makeDatabase(template)
}

/** An open academy in a database of its own, and other servers on the same. */
export async function openTestPostgres(options: Partial<PostgresOptions> = {}) {
  const database = await makeAcademyDatabase()
  const stores: Store[] = []
  const another = async (others: Partial<PostgresOptions> = {}) => {
    const { store } = await openPostgres({ url: database.url, env: {}, ...options, ...others }, steps)
    stores.push(store)
    return store
  }
  return {
    ...database,
    store: await another(),
    another,
    async [Symbol.asyncDispose]() {
      await Promise.all(stores.map((store) => store.close()))
      await database.remove()
    },
  }
}
