import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test as base } from 'vitest'
import { type RunningServer, type ServeOptions, serve } from '../../../src/server/socket/serve.ts'
import { freshDirectory, passwordCost, stoppedClock } from '../../helpers/academy.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { asSuperuser, makeAcademyDatabase, type OwnDatabase } from '../../helpers/postgres.ts'
import { builtThread } from '../../helpers/process.ts'
import { onPostgres } from '../../helpers/test-academy.ts'

/** An academy behind a real socket. */
export interface Served extends RunningServer {
  readonly path: string
  readonly port: number
  readonly key: string
  readonly log: readonly string[]
  /** Calls `fetch` with the first key, or with other headers. */
  fetch(path: string, init?: RequestInit & { headers?: Record<string, string> }): Promise<Response>
}

/** A response on a raw socket. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
  /** The problem's code, if the body is a problem. */
  readonly code: string | undefined
}

/** PostgreSQL databases in place of files, if the tests run on PostgreSQL. */
const databases = new Map<string, Promise<OwnDatabase>>()

async function inPlaceOf(path: string): Promise<Partial<ServeOptions>> {
  if (!onPostgres) return {}
  const isNew = !databases.has(path)
  const database = databases.get(path) ?? makeAcademyDatabase()
  databases.set(path, database)
  // The copy of a template is not new, so it would have no first key.
  return { postgres: { url: (await database).url, env: {} }, ...(isNew && { adminKey: true }) }
}

async function removeDatabases(directory: string): Promise<void> {
  for (const [path, database] of databases) {
    if (!path.startsWith(directory)) continue
    databases.delete(path)
    await (await database).remove()
  }
}

/** Serves an academy on a free loopback port. */
export async function startServer(path: string, options: Partial<ServeOptions> = {}): Promise<Served> {
  const log: string[] = []
  const server = await serve({
    path,
    ...(await inPlaceOf(path)),
    host: '127.0.0.1',
    port: 0,
    allowHosts: [],
    publicUrl: undefined,
    corsOrigins: [],
    perMinute: 0,
    passwordCost,
    writeLog: (line) => log.push(line),
    now: stoppedClock().now,
    ...options,
    longReads: { threadFile: builtThread(), ...options.longReads },
  })
  const key = server.firstKey ?? ''
  return {
    ...server,
    path,
    port: Number(new URL(server.address).port),
    key,
    log,
    fetch: (target, init = {}) =>
      fetch(server.address + target, { headers: { authorization: `Bearer ${key}` }, ...init }),
  }
}

/** Opens a socket to the server and collects what arrives as text. */
export async function openSocket(
  port: number,
): Promise<{ socket: Socket; received: () => string; closed: Promise<void> }> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // A reset of the connection is a response, too.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return { socket, closed, received: () => Buffer.concat(chunks).toString() }
}

/** Sends bytes and reads until the server closes. */
export async function sendRaw(port: number, ...pieces: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { socket, closed, received } = await openSocket(port)
  for (const piece of pieces) socket.write(piece)
  await closed
  return parseResponse(received())
}

/** Returns the first response on a socket. */
export function parseResponse(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  const code = /"code":"(\w+)"/.exec(body)?.[1]
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head: head.toLowerCase(), body, code }
}

/** Adds learners to the academy, all in one course; their rows have about 1 KB each. */
export async function addLearners(path: string, learners: number): Promise<void> {
  const database = await databases.get(path)
  if (database) return asSuperuser([learnersIn(onlyPostgres, learners)], database.url)
  const file = new DatabaseSync(path)
  file.exec(learnersIn(onlySqlite, learners))
  file.close()
}

const onlySqlite = {
  numbers: 'with recursive n (i) as (select 1 union all select i + 1 from n where i < $n)',
  from: 'n',
  address: `printf('%08d@b.example', i)`,
  profile: `json_object('firstName', printf('%.*c', 400, 'a'), 'lastName', printf('%.*c', 400, 'b'))`,
}

const onlyPostgres: typeof onlySqlite = {
  numbers: '',
  from: 'generate_series(1, $n) i',
  address: `lpad(i::text, 8, '0') || '@b.example'`,
  profile: `json_build_object('firstName', repeat('a', 400), 'lastName', repeat('b', 400))`,
}

function learnersIn({ numbers, from, address, profile }: typeof onlySqlite, learners: number): string {
  return `
    insert into courses (id, title, description, difficulty, status, attributes, version, created_at, updated_at)
    values ('crs_1', 'Logic', '', 'beginner', 'published',
            '{"assessmentCriteria":{"passingScore":70}}', 1, '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z');
    insert into users (id, email, email_key, role, status, profile, version, created_at, updated_at)
    ${numbers}
    select 'usr_' || i, ${address}, ${address}, 'learner', 'active', ${profile},
           1, '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z' from ${from};
    insert into enrollments (id, course_id, user_id, role, status, enrolled_at, source, version, created_at, updated_at)
    select 'enr_' || id, 'crs_1', id, 'learner', 'active', created_at, 'api', 1, created_at, created_at
    from users where id like 'usr_%' and email like '%@b.example'`.replaceAll('$n', String(learners))
}

/** The head of a request whose body has 17 bytes. */
export const post = (key: string) =>
  `POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 17\r\n\r\n'

/** A vitest test with a fresh directory and, if requested, a served academy in it. */
export const test = base
  .extend('directory', ({ task: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    onCleanup(() => removeDatabases(path).finally(remove))
    return path
  })
  .extend('options', {})
  .extend('served', async ({ directory, options }, { onCleanup }) => {
    const path = join(directory, 'academy.db')
    if (!onPostgres) await putNewAcademy(path)
    const served = await startServer(path, { adminKey: true, ...options })
    onCleanup(() => served.stop())
    return served
  })
