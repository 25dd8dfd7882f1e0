import type { Hono } from 'hono'
import sql from 'sql-template-tag'
import { openAcademyFile } from './academy.ts'
import type { FirstPassword } from './access/first-admin.ts'
import { localPrincipal } from './access/identify.ts'
import { createApp } from './http/app.ts'
import type { Reply } from './http/reply.ts'
import type { Grade } from './progress/gradebook.ts'
import { resourceIn, routesFor } from './routes.ts'

/** A request of this process: what a web Request is to the app. */
export interface LocalRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The answer of an academy in this process: what a web Response is to its reader. */
export interface LocalReply {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

/** An academy inside this process: no port, no credential, the same app. */
export interface OpenAcademy {
  readonly path: string
  /** True when this call made the academy. */
  readonly created: boolean
  readonly transport: (request: LocalRequest) => Promise<LocalReply>
  /** Keeps scores, all or none of them. */
  readonly recordGrades: (grades: readonly Grade[]) => Promise<void>
  /** A password for the first admin, made just now and nowhere else; undefined where there is one. */
  readonly makeFirstPassword: () => Promise<FirstPassword | undefined>
  /** What is wrong with the database file itself; nothing where it is whole. */
  readonly check: () => string[]
  readonly close: () => void
}

/**
 * Opens the academy in a file, to be used as its first user. Only the routes of a resource that is asked for are
 * loaded. Throws DatabaseError.
 */
export function openAcademy({
  path,
  now = () => new Date(),
}: {
  path: string
  now?: () => Date
}): OpenAcademy {
  const { database, created, newId } = openAcademyFile(path, now)
  const principal = localPrincipal(database)
  const apps = new Map<string, Promise<Hono>>()

  async function appFor(resource: string): Promise<Hono> {
    return createApp(
      {
        database,
        now,
        newId,
        principal,
        perMinute: 0,
        respond: localReply,
        addressOf: () => 'local',
        log: () => {},
      },
      await routesFor(resource),
    )
  }

  return {
    path,
    created,
    async transport(request) {
      const { pathname } = new URL(request.url)
      const resource = resourceIn(pathname)
      const app = apps.get(resource) ?? appFor(resource)
      apps.set(resource, app)
      const head = request.method === 'HEAD'
      // What Hono makes of HEAD is a Response of the runtime's own.
      const like = webLike(head ? { ...request, method: 'GET' } : request)
      const reply = (await (await app).fetch(like)) as unknown as LocalReply
      return head ? { ...reply, body: null } : reply
    },
    async recordGrades(grades) {
      const { recordGrade } = await import('./progress/gradebook.ts')
      const call = { database, now: now().toISOString() }
      database.transaction(() => {
        for (const grade of grades) recordGrade(call, grade)
      })
    },
    makeFirstPassword: async () => (await import('./access/first-admin.ts')).makeFirstPassword(database),
    check: () => [
      ...database
        .all(sql`pragma quick_check`)
        .map((row) => String(row['quick_check']))
        .filter((line) => line !== 'ok'),
      ...database
        .all(sql`pragma foreign_key_check`)
        .map((row) => `a row of ${row['table']} points to nothing`),
    ],
    close: () => database.close(),
  }
}

// The runtime's own Request and Response cost more to touch for the first time than all the rest of a short
// command; the app uses only what stands here.
function webLike({ method, url, headers, body }: LocalRequest): Request {
  const bytes = new TextEncoder().encode(body ?? '')
  const all: Readonly<Record<string, string>> = { 'content-length': String(bytes.length), ...headers }
  return {
    method,
    url,
    headers: { get: (name: string) => all[name.toLowerCase()] ?? null },
    arrayBuffer: async () => bytes,
  } as unknown as Request
}

function localReply({ status, headers, body }: Reply): Response {
  return {
    status,
    headers: { get: (name: string) => headers[name.toLowerCase()] ?? null },
    body: body === null ? null : encoded(typeof body === 'string' ? [body] : body),
  } as unknown as Response
}

async function* encoded(text: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const piece of text) yield encoder.encode(piece)
}
