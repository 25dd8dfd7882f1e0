import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
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
import type { SelfSigned } from './certificate.ts'

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
  // By files, a copy takes half as long.
  await asSuperuser([`create database ${name} template ${from} strategy file_copy`])
  return {
    name,
    url: urlWith(postgresUrl, { pathname: name }),
    remove: () => asSuperuser([`drop database ${name} with (force)`]),
  }
}

/** A database with the schema in it: a copy of one that is made once on each server. */
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

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** What stands before a PostgreSQL server. */
export interface PostgresFront extends AsyncDisposable {
  /** The same database, through here. */
  readonly url: string
  /** Called with what the client says and what the server answers; `cut` ends both sides at once. */
  onClient: (text: string, cut: () => void) => void
  onServer: (text: string, cut: () => void) => void
  /** True to pass on nothing, as a network does that has lost a cable. */
  isSilent: boolean
  /** How many connections have come. */
  readonly connections: () => number
  /** True once a client spoke TLS. */
  readonly wasEncrypted: () => boolean
}

/**
 * Passes connections on to the server of this URL, on a port of its own; with a certificate it speaks TLS, as PostgreSQL
 * does, where the client asks for it, and `only` then: any other connection is cut.
 */
export async function postgresFront(
  url: string,
  { tls, only = false, host = '127.0.0.1' }: { tls?: SelfSigned; only?: boolean; host?: string } = {},
): Promise<PostgresFront> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  let connections = 0
  let wasEncrypted = false
  const server = createServer((client) => {
    connections += 1
    const upstream = connect(Number(port), hostname)
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', cut).on('close', cut)
    }
    const pass = (socket: Socket) => {
      socket.on('error', cut)
      socket.on('data', (chunk: Buffer) => {
        front.onClient(chunk.toString('latin1'), cut)
        if (!upstream.destroyed && !front.isSilent) upstream.write(chunk)
      })
      upstream.on('data', (chunk: Buffer) => {
        front.onServer(chunk.toString('latin1'), cut)
        if (!socket.destroyed) socket.write(chunk)
      })
    }
    client.once('data', (first: Buffer) => {
      if (!first.equals(sslRequest)) {
        if (only) return cut()
        pass(client)
        client.emit('data', first)
        return
      }
      client.write(tls ? 'S' : 'N')
      if (!tls) return pass(client)
      wasEncrypted = true
      pass(new TLSSocket(client, { isServer: true, ...tls }))
    })
  })
  await once(server.listen(0, host), 'listening')
  // A server that listens on a host and port has an address object.
  const own = (server.address() as AddressInfo).port
  const front: PostgresFront = {
    url: urlWith(url, { host: `${host === '127.0.0.1' ? 'localhost' : host}:${own}` }),
    onClient: () => undefined,
    onServer: () => undefined,
    isSilent: false,
    connections: () => connections,
    wasEncrypted: () => wasEncrypted,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return front
}
