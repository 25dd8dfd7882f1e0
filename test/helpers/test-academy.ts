import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'sql-template-tag'
import { type Grade, GradeInput } from '../../src/contract/grades.ts'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'
import type { RoleName, Scope } from '../../src/contract/operation.ts'
import {
  type AcademyFile,
  openAcademyFile,
  openAcademyOnPostgres,
} from '../../src/server/academy/open-academy.ts'
import { localPrincipal } from '../../src/server/access/identify.ts'
import { grantable, nowhere } from '../../src/server/access/principal.ts'
import { createSealing, fileKeySource, keyPathOf, type Sealing } from '../../src/server/access/sealing.ts'
import { createKey } from '../../src/server/credentials/keys.ts'
import type { Store } from '../../src/server/database/database.ts'
import { setGrade } from '../../src/server/grades/gradebook.ts'
import { resolveGrade } from '../../src/server/grades/resolve-grade.ts'
import { createApp } from '../../src/server/http/app.ts'
import type { LogEntry } from '../../src/server/http/log.ts'
import { createLazyOutgoing } from '../../src/server/outgoing/outgoing-when-needed.ts'
import { loadAllRoutes, loadAllWebRoutes } from '../../src/server/routes.ts'
import { createFakeClassroom } from './fake-classroom.ts'
import { smallMoodle } from './fake-moodle.ts'
import { outgoingTo } from './fake-system.ts'
import { freshDirectory } from './fresh-directory.ts'
import { putNewAcademy, start } from './new-academy.ts'
import { unknownFaults } from './plans/known-plans.ts'
import { sqlitePlans } from './plans/plan-faults.ts'
import { watchDatabase } from './plans/watched-database.ts'
import { fetchOf } from './web.ts'

export { freshDirectory } from './fresh-directory.ts'
export { start } from './new-academy.ts'

/** A clock that stands still until `advance` is called. */
export interface Clock {
  readonly now: () => Date
  advance(ms: number): void
}

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Lowest cost of scrypt: tests check who can sign in, not how expensive guessing is. */
export const passwordCost = { N: 2, r: 1, p: 1 }

/** A response with its complete body. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Body parsed as JSON, untyped: tests check for values that a type would rule out. */
  readonly body: Awaited<ReturnType<Response['json']>>
}

type Headings = Readonly<Record<string, string>>

/** A user with an API key who sends requests. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly key: string
  get(path: string, headers?: Headings): Promise<Answer>
  post(path: string, body?: unknown, headers?: Headings): Promise<Answer>
  put(path: string, body?: unknown, headers?: Headings): Promise<Answer>
  delete(path: string, headers?: Headings): Promise<Answer>
  /** Sends a request with these characters or bytes as the body. */
  send(method: string, path: string, body?: string | Uint8Array, headers?: Headings): Promise<Answer>
}

/** A client with any credential or none. */
export type Caller = Omit<Person, 'id' | 'email' | 'key'>

/** An academy in a fresh directory; like behind a socket, requests are identified by their credential alone. */
export interface TestAcademy {
  readonly path: string
  readonly database: Store
  readonly clock: Clock
  readonly logged: readonly LogEntry[]
  readonly sealing: Sealing
  /** Hashing passwords fails if N is not a power of two. */
  readonly passwordCost: { N: number }
  readonly fetch: (request: Request) => Promise<Response>
  /** Returns `fetch` for a client at this address. */
  readonly fetchFrom: (address: string) => (request: Request) => Promise<Response>
  /** Makes a user with this role, with an API key of these scopes (default all that the role may have). */
  person(role: RoleName, scopes?: readonly Scope[]): Promise<Person>
  /** Returns a client that sends this Authorization header, or none. */
  bearer(authorization: string | undefined): Caller
  /** Stores a grade as if a platform had sent it. */
  grade(
    grade: Partial<GradeInput> & Pick<GradeInput, 'learnerId' | 'courseId' | 'scoreGiven'>,
  ): Promise<Grade>
  /** From now on it can only be read, as other tests read it: requests that write, and moving its clock, throw. */
  freeze(): void
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Returns a clock at the time at which every test begins. */
export function stoppedClock(): Clock {
  let time = Date.parse(start)
  return {
    now: () => new Date(time),
    advance: (ms) => {
      time += ms
    },
  }
}

/** True if the tests of the server run on PostgreSQL: in the project `postgres` of vitest.config.ts. */
export const onPostgres = process.env['LEARNCTL_TEST_ENGINE'] === 'postgres'

/** PostgreSQL URLs of the open academies, by path. */
const urls = new Map<string, string>()

/** Opens an academy in its own database, removed on close; another server at this path shares the database. */
async function openOnPostgres(path: string, now: () => Date): Promise<AcademyFile> {
  const known = urls.get(path)
  if (known !== undefined) return openAcademyOnPostgres({ url: known, env: {} }, now)
  const { makeAcademyDatabase } = await import('./postgres.ts')
  const { url, remove } = await makeAcademyDatabase()
  urls.set(path, url)
  const academy = await openAcademyOnPostgres({ url, env: {} }, now)
  const close = async () => {
    urls.delete(path)
    await academy.database.close()
    await remove()
  }
  return { ...academy, database: { ...academy.database, close } }
}

/** Opens the academy in the file at this path; makes one if there is none. */
async function openInFile(path: string, now: () => Date, waitMs: number | undefined): Promise<AcademyFile> {
  if (!existsSync(path)) await putNewAcademy(path)
  return openAcademyFile(path, now, { waitMs })
}

/** Opens an academy for a test. */
export async function openTestAcademy({
  perMinute = 0,
  lockWaitMs,
  inboxPerDay,
  beside,
  open = onPostgres ? openOnPostgres : (path, now) => openInFile(path, now, lockWaitMs),
  through = (database) => database,
}: {
  perMinute?: number
  /** Academy whose database and clock another server shares; both have the same users. */
  beside?: Pick<TestAcademy, 'path' | 'clock'>
  /** Opens the academy (default: in the file at this path). */
  open?: (path: string, now: () => Date) => Promise<AcademyFile>
  lockWaitMs?: number | undefined
  /** Maximum deliveries stored per integration and day. */
  inboxPerDay?: { deliveries: number; bytes: number } | undefined
  /** Wraps the database of the academy. */
  through?: (database: Store) => Store
} = {}): Promise<TestAcademy> {
  const directory = freshDirectory()
  const path = beside?.path ?? join(directory.path, 'academy.db')
  let isFrozen = false
  const refuseIfFrozen = () => {
    if (isFrozen)
      throw new Error('This academy is only read, as its tests share it: a test that writes needs its own')
  }
  const plainClock = beside?.clock ?? stoppedClock()
  const { now } = plainClock
  const clock: Clock = {
    now,
    advance(ms) {
      refuseIfFrozen()
      plainClock.advance(ms)
    },
  }
  const { database: store, newId } = await open(path, now)
  const database = guardTransactions(through(store))
  const statements = !store.dialect.hasManyWriters ? watchStatements(path) : undefined
  const logged: LogEntry[] = []
  const cost = { ...passwordCost }
  const sealing = createSealing(fileKeySource(keyPathOf(path)))
  const routes = await loadAllRoutes()
  const app = createApp(
    {
      // Statements of the tests themselves are not watched.
      database: statements ? watchDatabase(database, statements) : database,
      now,
      elapsedMs: () => now().getTime(),
      newId,
      perMinute,
      ...(inboxPerDay && { inboxPerDay }),
      passwordCost: cost,
      sealing,
      outgoing: outgoingTo(
        'moodle.example.org',
        smallMoodle,
        outgoingTo(
          'classroom.example.org',
          createFakeClassroom().system,
          createLazyOutgoing({ loopback: true }),
        ),
      ),
      log: (entry) => logged.push(entry),
    },
    () => routes,
    await loadAllWebRoutes(),
  )
  const fetchFrom = (address?: string) => {
    const fetch = fetchOf(app, address)
    return async (request: Request) => {
      if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method)) refuseIfFrozen()
      return fetch(request)
    }
  }
  const fetch = fetchFrom()
  let people = 0

  async function keyOf(userId: string, scopes: readonly Scope[]): Promise<string> {
    const details = { name: 'test', userId, scopes, expiresAt: null }
    const origin = nowhere
    const call = { now: now().toISOString(), newId, principal: owner, origin }
    const made = await database.write((transaction) => createKey({ ...call, database: transaction }, details))
    return made.key ?? ''
  }

  function bearer(authorization: string | undefined): Caller {
    const send: Person['send'] = async (method, path, body, headers = {}) => {
      const credential: Headings = authorization === undefined ? {} : { authorization }
      const response = await fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { ...credential, ...headers },
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body) }),
        }),
      )
      const text = await response.text()
      const json = response.headers.get('content-type')?.match(/^application\/(problem\+)?json/)
      const answered = json && text !== '' ? JSON.parse(text) : null
      requireDeclared(method, path, response.status, answered?.code)
      return { status: response.status, headers: response.headers, text, body: answered }
    }
    const json =
      (method: string) =>
      (path: string, body?: unknown, headers: Headings = {}) =>
        body === undefined
          ? send(method, path, undefined, headers)
          : send(method, path, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
    return {
      send,
      get: (path, headers) => send('GET', path, undefined, headers),
      post: json('POST'),
      put: json('PUT'),
      delete: (path, headers) => send('DELETE', path, undefined, headers),
    }
  }

  const owner = await localPrincipal(database)

  async function person(role: RoleName, scopes: readonly Scope[] = grantable[role]): Promise<Person> {
    people += 1
    const made = await bearer(`Bearer ${ownerKey}`).post('/v1/users', {
      email: `${role}-${people}@school.example`,
      role,
    })
    const key = await keyOf(made.body.id, scopes)
    return { id: made.body.id, email: made.body.email, key, ...bearer(`Bearer ${key}`) }
  }

  async function close(): Promise<void> {
    const faults = (await statements?.faults()) ?? []
    await database.close()
    directory.remove()
    if (faults.length > 0) throw new Error(`Statements that grow with a table:\n${faults.join('\n')}`)
  }

  const ownerKey = await keyOf(owner.userId, owner.scopes)
  return {
    path,
    database: {
      ...database,
      run: async (statement) => {
        refuseIfFrozen()
        return database.run(statement)
      },
      write: async (work) => {
        refuseIfFrozen()
        return database.write(work)
      },
    },
    clock,
    logged,
    sealing,
    passwordCost: cost,
    fetch,
    fetchFrom,
    person,
    bearer,
    async grade(grade) {
      refuseIfFrozen()
      const input = GradeInput.parse(grade)
      return database.write(async (transaction) => {
        const call = {
          database: transaction,
          now: now().toISOString(),
          newId,
          principal: owner,
          origin: nowhere,
        }
        return setGrade(call, await resolveGrade(call, input))
      })
    },
    freeze() {
      isFrozen = true
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Returns a store that throws when it is used inside one of its own transactions instead of the store that the
 * transaction provides: otherwise the test would wait for itself.
 */
function guardTransactions<Guarded extends Store>(store: Guarded): Guarded {
  const inside = new AsyncLocalStorage<true>()
  const outsideOnly = <Given extends readonly unknown[], Result>(use: (...given: Given) => Result) => {
    return (...given: Given): Result => {
      if (inside.getStore()) throw new Error('The academy was used inside its own transaction.')
      return use(...given)
    }
  }
  return {
    ...store,
    one: outsideOnly(store.one) as Store['one'],
    all: outsideOnly(store.all) as Store['all'],
    cells: outsideOnly(store.cells),
    run: outsideOnly(store.run),
    read: outsideOnly((work) => store.read((view) => inside.run(true, () => work(view)))) as Store['read'],
    write: outsideOnly((work) =>
      store.write((transaction) => inside.run(true, () => work(transaction))),
    ) as Store['write'],
  }
}

type Described = Readonly<Record<string, { readonly responses: Readonly<Record<string, DescribedResponse>> }>>
interface DescribedResponse {
  readonly $ref?: string
  readonly content?: { readonly 'application/problem+json': { readonly examples: object } }
}

let table: { pattern: RegExp; methods: Described }[] | undefined
let components: Readonly<Record<string, DescribedResponse>> = {}

function declarations() {
  if (table) return table
  const document = openapiOf()
  // openapiOf() returns JSON without a type.
  const paths = document['paths'] as Readonly<Record<string, Described>>
  components = (document['components'] as { responses: Readonly<Record<string, DescribedResponse>> })
    .responses
  table = Object.entries(paths).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    methods,
  }))
  return table
}

/**
 * Throws if an operation responded with a status or an error code that the OpenAPI document does not declare: clients
 * may meet everything that a test provokes.
 */
function requireDeclared(method: string, path: string, status: number, code: unknown): void {
  // These are no responses of an operation.
  if (status === 405 || method === 'OPTIONS') return
  const places = declarations().filter(({ pattern }) => pattern.test(path.split('?', 1)[0] ?? ''))
  const verb = { HEAD: 'get', PATCH: 'put' }[method] ?? method.toLowerCase()
  const responses = places.find(({ methods }) => methods[verb])?.methods[verb]?.responses
  if (!responses) return
  const declared = responses[status]
  // A condition on a resource without versions, which the document does not offer.
  if (status === 412 && !declared) return
  const response = declared?.$ref === undefined ? declared : components[declared.$ref.split('/').at(-1) ?? '']
  const codes = response?.content?.['application/problem+json']?.examples ?? {}
  if (!response || (typeof code === 'string' && status >= 400 && !(code in codes))) {
    throw new Error(
      `${method} ${path} answered ${status} ${code ?? ''}, which its description does not tell (src/contract/openapi/responses.ts)`,
    )
  }
}

/** Statements that were checked already: their plans depend on the schema, which all academies share. */
const checkedStatements = new Set<string>()

/** Checks the plans of all statements that a test causes in the SQLite academy at this path. */
function watchStatements(path: string) {
  const asked = new Map<string, Sql>()

  /** Returns those that read or sort a table from end to end; the academy must still be open. */
  async function faults(): Promise<string[]> {
    const statements = [...asked.values()].filter(({ sql: text }) => !checkedStatements.has(text))
    if (statements.length === 0) return []
    for (const { sql: text } of statements) checkedStatements.add(text)
    const plans = sqlitePlans(path)
    const found: string[] = []
    for (const statement of statements) found.push(...(await plans.faultsOf(statement)))
    await plans.close()
    return unknownFaults(found, true)
  }

  return { faults, seen: (statement: Sql) => void asked.set(statement.sql, statement) }
}
