import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import sql, { type Sql } from 'sql-template-tag'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sign } from '../../../src/lms/verify.ts'
import { openAcademyFile, openAcademyOnPostgres } from '../../../src/server/academy/open-academy.ts'
import type { Row, Store } from '../../../src/server/database/database.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { webhookSecret } from '../../helpers/lms.ts'
import { startPostgresProxy, withoutPostgres } from '../../helpers/postgres.ts'
import { root } from '../../helpers/process.ts'
import { type Fleet, startFleet } from './server-process.ts'

/** Number of writes, from LEARNCTL_TEST_WRITES; LEARNCTL_TEST_SEED repeats a run. */
const asked = Number(process.env['LEARNCTL_TEST_WRITES'] ?? 0)
const seed = Number(process.env['LEARNCTL_TEST_SEED'])
const atATime = 12
const testTimeoutMs = 180_000 + asked * 200

/** Kinds of trouble during the writes, and the number of each. */
interface Trouble {
  readonly times: number
  readonly happen: (turn: number) => Promise<void>
}

/** Makes the learners and courses of the writes, and an integration that delivers grades of one of them. */
async function makeOthers({ urls, key }: Fleet, count: number): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = async (path: string, body: unknown, method = 'POST') => {
    const init = { method, headers, body: JSON.stringify(body) }
    const answer = await fetch(`${urls[0]}${path}`, init)
    expect(answer.ok).toBe(true)
  }
  const items = Array.from({ length: side }, (_, index) => {
    return { email: `learner-${index}@school.example`, externalId: `learner-${index}` }
  })
  await post('/v1/users/batch', { items })
  for (let index = 0; index * side < count; index += 1) {
    const course = { title: `Course ${index}`, externalId: `course-${index}`, status: 'published' }
    await post('/v1/courses', course)
  }
  await post('/v1/courses', { title: 'Graded', externalId: 'graded', status: 'published' })
  const enrolled = items.map(({ externalId }) => ({ courseId: 'ext:graded', userId: `ext:${externalId}` }))
  await post('/v1/enrollments/batch', { items: enrolled })
  await post('/v1/integrations/standard', { webhookSecrets: [webhookSecret] }, 'PUT')
}

/** Sends all writes, several at a time; each trouble comes at its own moments, which the seed determines. */
async function writeAmong(
  fleet: Fleet,
  writes: readonly Write[],
  troubles: readonly Trouble[],
): Promise<Told> {
  const moments = new Map<number, Trouble['happen'][]>()
  for (const [index, { times, happen }] of troubles.entries()) {
    const at = fc.sample(fc.noBias(fc.nat(writes.length - 1)), { numRuns: times, seed: seed + index })
    for (const moment of at) moments.set(moment, [...(moments.get(moment) ?? []), happen])
  }
  const writer = openWriter(fleet)
  const happening: Promise<void>[] = []
  let next = 0
  const worker = async () => {
    for (let write = writes[next++]; write; write = writes[next++]) {
      for (const happen of moments.get(write.number) ?? []) happening.push(happen(happening.length))
      await writer.send(write)
    }
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  await Promise.all(happening)
  // The same request gets the same response ever after.
  for (const write of writes.slice(0, 50)) await writer.send(write)
  return writer.told
}

function report(what: Readonly<Record<string, number>>): void {
  if (asked > 0) process.stdout.write(`${JSON.stringify({ seed, ...what })}\n`)
}

function freshHome(): string {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  return path
}

test(
  'SQLite: a server killed among writes loses none that it answered, nor doubles one',
  async () => {
    const path = join(freshHome(), 'academy.db')
    const fleet = await startFleet(join(path, '..'), path, 1)
    onTestFinished(async () => void (await fleet.stop()))
    const writes = writesOf(asked || 200, seed)
    await makeOthers(fleet, writes.length)
    const kills = Math.ceil(writes.length / 150)
    const told = await writeAmong(fleet, writes, [{ times: kills, happen: () => fleet.killOne(0) }])
    const faults = await fleet.stop()
    const { database } = await openAcademyFile(path, () => new Date())
    expect([...faults, ...(await faultsIn(database, writes, told))], `seed ${seed}`).toEqual([])
    expect(await database.check()).toEqual([])
    report({ writes: writes.length, kills, unanswered: told.unanswered, unavailable: told.unavailable })
    await database.close()
  },
  testTimeoutMs,
)

describe.skipIf(withoutPostgres !== false)('PostgreSQL', () => {
  test(
    'three servers, a database and connections that break lose and double nothing',
    async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres.stop())
      const home = freshHome()
      const front = await startPostgresProxy(postgres.url)
      onTestFinished(() => front[Symbol.asyncDispose]())
      const fleet = await startFleet(home, front.url, 3, ['--encryption-key-file', 'sealing.key'])
      onTestFinished(async () => void (await fleet.stop()))

      const writes = writesOf(asked || 300, seed)
      await makeOthers(fleet, writes.length)
      const counts = {
        kills: Math.ceil(writes.length / 150),
        crashes: Math.ceil(writes.length / 2500),
        cuts: 0,
        commits: 0,
      }
      const isCut = fc.sample(fc.noBias(fc.nat(49)), { numRuns: 1000, seed }).map((number) => number === 0)
      front.onServer = (text, cut) => {
        if (!text.includes('COMMIT')) return
        counts.commits += 1
        if (!isCut[counts.commits % isCut.length]) return
        counts.cuts += 1
        cut()
      }
      const told = await writeAmong(fleet, writes, [
        { times: counts.kills, happen: (turn) => fleet.killOne(turn % 3) },
        { times: counts.crashes, happen: () => postgres.restart() },
      ])
      const faults = await fleet.stop()
      const { database } = await openAcademyOnPostgres({ url: postgres.url, env: {} }, () => new Date())
      expect([...faults, ...(await faultsIn(database, writes, told))], `seed ${seed}`).toEqual([])
      report({ writes: writes.length, ...counts, unanswered: told.unanswered, unavailable: told.unavailable })
      await database.close()
    },
    testTimeoutMs,
  )
})

/** Effect of a write: its responses, and for progress and grades their state. */
interface Made extends Row {
  readonly subject: string
  readonly answer: string
  readonly percentage: number | null
  readonly version: number | null
}

/** Returns the problems of an academy after these writes: lost, duplicate, partial or miscounted ones. */
async function faultsIn(database: Store, writes: readonly Write[], told: Told): Promise<string[]> {
  const faults = [...told.wrong]
  const expectSame = (what: string, is: unknown, wanted: unknown) => {
    if (is !== wanted) faults.push(`${what}: ${is} in place of ${wanted}`)
  }
  const rows = await madeBy(database)
  const bySubject = Map.groupBy(rows, ({ subject }) => subject)
  for (const write of writes) {
    const name = `${write.kind} ${write.number}`
    const answers = new Set(told.done.get(write.number))
    expectSame(`${name}: different answers`, answers.size, 1)
    const made = subjectsOf(write).map((subject) => bySubject.get(subject) ?? [])
    for (const { length } of made) expectSame(`${name}: rows`, length, 1)
    expectSame(name, made.map(([row]) => row?.answer).join(' '), [...answers][0])
    if (write.kind !== 'progress' && write.kind !== 'delivery') continue
    const [{ percentage, version } = {}] = made.flat()
    expectSame(`${name}: percentage`, percentage, subjectOf(write).percentage)
    expectSame(`${name}: version`, version, 1)
  }
  expectSame('rows of all', rows.length, writes.flatMap(subjectsOf).length)
  const keys = (standing: Sql) =>
    database.one(sql`select count(*) as found from idempotency where key like 'write-%' and ${standing}`)
  const kept = writes.filter(({ kind }) => kind !== 'progress' && kind !== 'delivery').length
  expectSame('kept keys', (await keys(sql`status between 200 and 299`))?.['found'], kept)
  expectSame('keys without an answer', (await keys(sql`status = 0`))?.['found'], 0)
  return faults
}

function subjectsOf(write: Write): string[] {
  const { learner, course, title, item } = subjectOf(write)
  if (write.kind === 'course') return [title]
  if (write.kind === 'delivery') return [item]
  if (write.kind === 'users' || write.kind === 'user') return emailsOf(write)
  return [`${write.kind} ${learner} ${course}`]
}

function madeBy(database: Store): Promise<Made[]> {
  return database.all<Made>(sql`
    select title as subject, id as answer, cast(null as double precision) as percentage, cast(null as bigint) as version
      from courses where title like 'Written %'
    union all
    select email, id, null, null from users where email like 'written-%'
    union all
    select d.item_id, d.id, g.score_given, g.version from webhook_deliveries d join grades g on g.id = d.grade_id
    union all
    select case when p.user_id is null then 'enrolment ' else 'progress ' end || u.external_id || ' ' || c.external_id,
      case when p.user_id is null then e.id else e.user_id || ' ' || e.course_id end, p.percentage, p.version
    from enrollments e join users u on u.id = e.user_id join courses c on c.id = e.course_id
      left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    where c.external_id <> 'graded'`)
}

/** Number of learners and courses; each pair is enrolled, or has progress, at most once. */
const side = 100
/** Users that one request creates, all or none. */
const batchSize = 5
const writeTimeoutMs = 120_000

/** A write, which is sent until it gets a response. */
interface Write {
  readonly number: number
  readonly kind: 'course' | 'user' | 'users' | 'enrolment' | 'progress' | 'delivery'
  /** Milliseconds after which its client disconnects and sends it again; null for a client that waits. */
  readonly leavesAfterMs: number | null
}

/** Responses to all writes. */
interface Told {
  /** Ids in each successful response, by number of the write. */
  readonly done: ReadonlyMap<number, readonly string[]>
  /** Number of responses that the database is away, and of missing responses. */
  readonly unavailable: number
  readonly unanswered: number
  /** Responses that no client should get. */
  readonly wrong: readonly string[]
}

/** Makes writes of all kinds; the same seed gives the same writes. */
function writesOf(count: number, seed: number): Write[] {
  const one = fc.record({
    kind: fc.constantFrom<Write['kind'][]>('course', 'user', 'users', 'enrolment', 'progress', 'delivery'),
    leavesAfterMs: fc.oneof(
      { weight: 19, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
    ),
  })
  return fc.sample(one, { numRuns: count, seed }).map((write, number) => ({ number, ...write }))
}

/** Subject of a write; no other write has its e-mail addresses, titles and pairs. */
function subjectOf({ number }: Write) {
  const learner = `learner-${number % side}`
  const course = `course-${Math.floor(number / side) % side}`
  return { learner, course, percentage: number % 101, title: `Written ${number}`, item: `item-${number}` }
}

/** Returns the e-mail addresses that a write creates. */
function emailsOf({ kind, number }: Write): string[] {
  if (kind === 'user') return [`written-${number}@school.example`]
  if (kind !== 'users') return []
  return Array.from({ length: batchSize }, (_, index) => `written-${number}-${index}@school.example`)
}

interface WriteRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
  /** Headers of a signed request, whose body is text. */
  readonly signed?: Readonly<Record<string, string>>
}

async function requestOf(write: Write): Promise<WriteRequest> {
  const { learner, course, percentage, title, item } = subjectOf(write)
  const items = emailsOf(write).map((email) => ({ email }))
  switch (write.kind) {
    case 'course':
      return { method: 'POST', path: '/v1/courses', body: { title } }
    case 'user':
      return { method: 'POST', path: '/v1/users', body: items[0] }
    case 'users':
      return { method: 'POST', path: '/v1/users/batch', body: { items } }
    case 'enrolment': {
      const body = { userId: `ext:${learner}`, courseId: `ext:${course}` }
      return { method: 'POST', path: '/v1/enrollments', body }
    }
    case 'progress': {
      const body = {
        courseId: `ext:${course}`,
        completionPercentage: percentage,
        lastAccessed: '2026-02-01T12:00:00Z',
      }
      return { method: 'PUT', path: `/v1/learners/ext:${learner}/progress`, body }
    }
    case 'delivery': {
      const timestamp = '2026-02-01T12:00:00.000Z'
      const graded = { courseId: 'ext:graded', userId: `ext:${learner}`, itemId: item }
      const data = { ...graded, timestamp, scoreGiven: percentage, scoreMaximum: 100 }
      const material = { secret: webhookSecret, now: Date.now(), id: `event-${write.number}` }
      const { headers, body } = await sign('standard', { type: 'grade.updated', timestamp, data }, material)
      // All headers of a signature are text.
      const signed = headers as Record<string, string>
      return { method: 'POST', path: '/webhooks/standard/grades', body, signed }
    }
  }
}

/** A client that tries the next server if one does not respond or reports that its database is away. */
function openWriter(fleet: Pick<Fleet, 'urls' | 'key'>) {
  const done = new Map<number, string[]>()
  const wrong: string[] = []
  let [unavailable, unanswered] = [0, 0]

  async function attempt(write: Write, url: string, leavesAfterMs: number | null): Promise<boolean> {
    const { method, path, body, signed } = await requestOf(write)
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: signed ?? {
          authorization: `Bearer ${fleet.key}`,
          'content-type': 'application/json',
          'idempotency-key': `"write-${write.number}"`,
        },
        body: signed ? String(body) : JSON.stringify(body),
        signal: AbortSignal.timeout(leavesAfterMs ?? writeTimeoutMs),
      })
      const text = await response.text()
      if (response.status === 503) {
        unavailable += 1
        return false
      }
      const ids = response.ok ? idsIn(JSON.parse(text)) : undefined
      if (ids) done.set(write.number, [...(done.get(write.number) ?? []), ids])
      else wrong.push(`${write.kind} ${write.number}: ${response.status} ${text}`)
      return true
    } catch (error) {
      // Only missing responses: an error of the test itself has another name.
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
      unanswered += 1
      return false
    }
  }

  return {
    get told(): Told {
      return { done, unavailable, unanswered, wrong }
    },
    /** Sends a write until it gets a response. */
    async send(write: Write): Promise<void> {
      const endMs = performance.now() + writeTimeoutMs
      for (let tries = 0; performance.now() < endMs; tries += 1) {
        const { urls } = fleet
        const url = urls[(write.number + tries) % urls.length] ?? ''
        if (await attempt(write, url, tries === 0 ? write.leavesAfterMs : null)) return
        await setTimeout(10 + tries * 5)
      }
      wrong.push(`${write.kind} ${write.number}: no answer for ${writeTimeoutMs / 1000} s`)
    },
  }
}

/** Returns the created ids in order; undefined if an item of a batch was refused. */
function idsIn(body: Record<string, unknown>): string | undefined {
  const { id, deliveryId, learnerId, courseId, results } = body as Record<string, string | undefined> & {
    results?: readonly { id?: string }[]
  }
  if (Array.isArray(results)) {
    return results.every((one) => one.id) ? results.map((one) => one.id).join(' ') : undefined
  }
  return id ?? deliveryId ?? `${learnerId} ${courseId}`
}

/** A PostgreSQL server of one test. */
interface PostgresCluster {
  /** URL of its superuser. */
  readonly url: string
  /** Crashes and restarts it: it recovers what was committed. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const script = `
  echo "$LEARNCTL_TEST_POSTGRES"
  while read -r _; do eval "$LEARNCTL_TEST_POSTGRES_RESTART"; echo restarted; done`

/** Starts one with .ci/postgres; it ends with this process at the latest. */
async function startPostgres(): Promise<PostgresCluster> {
  const child = spawn(join(root, '.ci/postgres'), ['bash', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)
  const line = async () => String((await once(lines, 'line'))[0])
  const url = await line()
  return {
    url,
    async restart() {
      const restarted = line()
      child.stdin.write('\n')
      await restarted
    },
    async stop() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
