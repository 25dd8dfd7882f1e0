import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import type { Store } from '../../src/server/database/database.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { dialect, openPostgres } from '../../src/server/database/postgres/open-postgres.ts'
import type { PostgresOptions } from '../../src/server/database/postgres/reach-postgres.ts'
import { createAcademy, tables } from '../../src/server/database/schema/schema.ts'
import { schemaSteps } from '../../src/server/database/schema/steps.ts'
import { tableStatements } from '../../src/server/database/schema/table.ts'
import type { SelfSigned } from './certificate.ts'

/** Superuser URL of the PostgreSQL for tests, which .ci/postgres starts; empty without one. */
export const postgresUrl = process.env['LEARNCTL_TEST_POSTGRES'] ?? ''

/** Reason to skip tests that need PostgreSQL; false if there is one. */
export const withoutPostgres =
  postgresUrl === '' && 'needs a PostgreSQL: run it by .ci/postgres, or set LEARNCTL_TEST_POSTGRES'

const now = () => new Date('2026-03-01T12:00:00Z')
/** Makes an academy in an empty database, and upgrades one. */
export const steps = schemaSteps({
  now: now().toISOString(),
  newId: idMaker(now),
  newSecret: () => 'a key for tests',
})

/** Runs statements one after the other as superuser, on the database of this URL. */
export async function asSuperuser(statements: readonly string[], url = postgresUrl): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Returns the URL with other parts. */
export function urlWith(
  url: string,
  parts: Partial<Record<'pathname' | 'username' | 'password' | 'host', string>>,
): string {
  return Object.assign(new URL(url), parts).href
}

/** A database of one test, and a function that removes it. */
export interface OwnDatabase {
  readonly name: string
  readonly url: string
  readonly remove: () => Promise<void>
}

/** Connection of this worker that makes and drops databases: to open one takes a third of that. */
interface Administrator {
  readonly client: pg.Client
  readonly socket: Socket
}

let administrator: Promise<Administrator> | undefined

async function openAdministrator(): Promise<Administrator> {
  // Some tests restart the server.
  const forget = () => {
    administrator = undefined
  }
  const socket = new Socket()
  const client = new pg.Client({ connectionString: postgresUrl, stream: () => socket })
  client.on('error', forget).on('end', forget)
  await client.connect().catch((error) => {
    forget()
    throw error
  })
  return { client, socket }
}

async function administer(statement: string): Promise<void> {
  administrator ??= openAdministrator()
  const { client, socket } = await administrator
  socket.ref()
  try {
    await client.query(statement)
  } finally {
    // It does not keep a program running that is done.
    socket.unref()
  }
}

/** Makes an empty database, or a copy of a template. */
export async function makeDatabase(from = 'template0'): Promise<OwnDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Copying files takes half as long.
  await administer(`create database ${name} template ${from} strategy file_copy`)
  return {
    name,
    url: urlWith(postgresUrl, { pathname: name }),
    remove: () => administer(`drop database ${name} with (force)`),
  }
}

let template: Promise<string> | undefined

/** Makes a database with the schema: a copy of a template that is made once on each server. */
export async function makeAcademyDatabase(): Promise<OwnDatabase> {
  template ??= makeTemplate()
  return makeDatabase(await template)
}

async function makeTemplate(): Promise<string> {
  const made = tables.flatMap((table) => tableStatements(dialect, table)).map(({ sql }) => sql)
  const text = [...made, String(createAcademy)].join()
  const template = `template_${createHash('sha256').update(text).digest('hex').slice(0, 20)}`
  const client = new pg.Client(postgresUrl)
  await client.connect()
  try {
    // Several test files start at the same time.
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
  return template
}

/** An open academy in its own database, and more servers on the same database. */
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

/** A proxy in front of a PostgreSQL server. */
interface PostgresFront extends AsyncDisposable {
  /** URL of the same database through the proxy. */
  readonly url: string
  /** Called with each message of the client and the server; `cut` closes both connections. */
  onClient: (text: string, cut: () => void) => void
  onServer: (text: string, cut: () => void) => void
  /** True to pass on nothing, like a network with an unplugged cable. */
  isSilent: boolean
  /** True after a client used TLS. */
  readonly wasEncrypted: () => boolean
}

/**
 * Passes connections on to the server of this URL, on its own port. With a certificate it accepts TLS if the client
 * requests it, as PostgreSQL does; with `only` it refuses all other connections.
 */
export async function startPostgresProxy(
  url: string,
  { tls, only = false, host = '127.0.0.1' }: { tls?: SelfSigned; only?: boolean; host?: string } = {},
): Promise<PostgresFront> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  let wasEncrypted = false
  const server = createServer((client) => {
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
    wasEncrypted: () => wasEncrypted,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return front
}
