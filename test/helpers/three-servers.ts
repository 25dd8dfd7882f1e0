import { test as standard } from 'vitest'
import {
  type AcademyFile,
  openAcademyFile,
  openAcademyOnPostgres,
} from '../../src/server/academy/open-academy.ts'
import { type Caller, openTestAcademy, type TestAcademy } from './academy.ts'
import { makeAcademyDatabase, makeDatabase, type OwnDatabase, withoutPostgres } from './postgres.ts'

/** A database that several servers share. */
interface SharedDatabase {
  /** Opens the database for one of the servers. */
  readonly open: (path: string, now: () => Date) => Promise<AcademyFile>
  readonly remove: () => Promise<void>
}

/** A kind of database that several servers can share. */
interface SharedEngine {
  readonly name: string
  /** True if this machine has none. */
  readonly isMissing: boolean
  /** Makes a database with an academy. */
  readonly make: () => Promise<SharedDatabase>
  /** Makes an empty database. */
  readonly makeEmpty: () => Promise<SharedDatabase>
}

const onFile = async (): Promise<SharedDatabase> => ({ open: openAcademyFile, remove: async () => undefined })

async function onServer(made: Promise<OwnDatabase>): Promise<SharedDatabase> {
  const { url, remove } = await made
  return { open: (_, now) => openAcademyOnPostgres({ url, env: {} }, now), remove }
}

/** SQLite with one file for all, and PostgreSQL. */
export const sharedEngines: readonly SharedEngine[] = [
  { name: 'SQLite', isMissing: false, make: onFile, makeEmpty: onFile },
  {
    name: 'the PostgreSQL of LEARNCTL_TEST_POSTGRES',
    isMissing: withoutPostgres !== false,
    make: () => onServer(makeAcademyDatabase()),
    makeEmpty: () => onServer(makeDatabase()),
  },
]

/** Three servers on one database, with one clock. */
type ThreeServers = readonly [TestAcademy, TestAcademy, TestAcademy]

/** Opens three servers; `close` also removes their database. */
export async function openThreeServers({
  make,
}: SharedEngine): Promise<{ servers: ThreeServers; close: () => Promise<void> }> {
  const { open, remove } = await make()
  const first = await openTestAcademy({ open })
  const [second, third] = await Promise.all([
    openTestAcademy({ open, beside: first }),
    openTestAcademy({ open, beside: first }),
  ])
  const servers = [first, second, third] as const
  return {
    servers,
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      await remove()
    },
  }
}

/**
 * A vitest test with three servers on one database, which all tests of a file share: each test makes its own users and
 * courses.
 */
export function testOn(engine: SharedEngine) {
  return standard
    .extend('engine', { scope: 'file' }, engine)
    .extend('servers', { scope: 'file' }, async ({ engine }, { onCleanup }) => {
      const { servers, close } = await openThreeServers(engine)
      onCleanup(close)
      return servers
    })
    .extend('clock', ({ servers }) => servers[0].clock)
    .extend('admin', ({ servers }) => servers[0].person('admin'))
}

/** Does work `count` times at once, on one server after the other; returns the results in that order. */
export function runAtOnce<Result>(
  servers: ThreeServers,
  count: number,
  work: (server: TestAcademy, index: number) => Promise<Result>,
): Promise<Result[]> {
  const chosen = Array.from({ length: count }, (_, index) => servers[index % 3] ?? servers[0])
  return Promise.all(chosen.map(work))
}

/** The same for requests with this API key. */
export function runAtOnceBy<Result>(
  servers: ThreeServers,
  { key }: { readonly key: string },
  count: number,
  work: (person: Caller, index: number) => Promise<Result>,
): Promise<Result[]> {
  return runAtOnce(servers, count, (server, index) => work(server.bearer(`Bearer ${key}`), index))
}

/** Counts responses by status or error code: `{ 201: 1, duplicate: 19 }`. */
export function countOutcomes(
  answers: readonly { readonly status: number; readonly body: { code?: string; error?: string } | null }[],
): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = (status >= 400 && (body?.code ?? body?.error)) || status
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}
