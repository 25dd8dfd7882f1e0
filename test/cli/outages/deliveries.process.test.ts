import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../../src/codec/json-text.ts'
import type { LmsKind } from '../../../src/contract/constants.ts'
import { sign } from '../../../src/lms/verify.ts'
import { openAcademyFile, openAcademyOnPostgres } from '../../../src/server/academy/open-academy.ts'
import type { Row, Store } from '../../../src/server/database/database.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { webhookSecret } from '../../helpers/lms.ts'
import { withoutPostgres } from '../../helpers/postgres.ts'
import { startPostgres } from './postgres-cluster.ts'
import { type Fleet, startFleet } from './server-process.ts'

/** Number of deliveries, from LEARNCTL_TEST_DELIVERIES; LEARNCTL_TEST_SEED repeats a run. */
const count = Number(process.env['LEARNCTL_TEST_DELIVERIES'] ?? 120)
const seed = Number(process.env['LEARNCTL_TEST_SEED'])
const connections = 16
const testTimeoutMs = 180_000 + count * 100

/** Sends all events over several connections while servers are killed; returns problems of the responses. */
async function deliverAll(fleet: Fleet): Promise<string[]> {
  await connectAll(fleet)
  const all = shuffled(eventsOf(count, seed), seed)
  const kills = new Set([1, 2, 3].map((quarter) => Math.floor((all.length * quarter) / 4)))
  const faults: string[] = []
  const killing: Promise<void>[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < all.length; index = next++) {
      const event = all[index]
      if (!event) return
      if (kills.has(index)) killing.push(fleet.killOne(index % fleet.urls.length))
      const fault = await deliver(fleet, event)
      if (fault !== undefined) faults.push(fault)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  await Promise.all(killing)
  return [...faults, ...(await fleet.stop())]
}

async function standingIn(database: Store): Promise<string[]> {
  const lines = await database.all<
    Row & { line: string; number: number | null; published: number | null }
  >(sql`
    select 'grade ' || u.external_id || ' ' || g.item_id as line,
      case when g.cleared = 1 then null else g.score_given end as number, g.published
      from grades g join users u on u.id = g.user_id
    union all
    select 'course ' || u.external_id, g.percent, null from course_grades g join users u on u.id = g.user_id
    union all
    select 'percentage ' || c.external_id || ' ' || u.external_id, coalesce(p.percentage, 0), null
      from enrollments e join users u on u.id = e.user_id join courses c on c.id = e.course_id
      left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`)
  return lines
    .map(
      ({ line, number, published }) => `${line} ${number}${published === null ? '' : ` ${published === 1}`}`,
    )
    .sort()
}

async function expectWhole(database: Store, faults: readonly string[]): Promise<void> {
  expect(faults, `seed ${seed}`).toEqual([])
  expect(await standingIn(database), `seed ${seed}`).toEqual(standingAfter(eventsOf(count, seed)))
  const statuses = await database.all(sql`
    select count(*) as found, sum(case when status in ('applied', 'stale') then 0 else 1 end) as others
    from webhook_deliveries`)
  expect(statuses).toEqual([{ found: count, others: 0 }])
}

function freshHome(): string {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  return path
}

test(
  'SQLite: the same deliveries in any order, some twice, make the same gradebook, also where the server is killed',
  async () => {
    const home = freshHome()
    const path = join(home, 'academy.db')
    const fleet = await startFleet(home, path, 1)
    onTestFinished(async () => void (await fleet.stop()))
    const faults = await deliverAll(fleet)
    const { database } = await openAcademyFile(path, () => new Date())
    await expectWhole(database, faults)
    await database.close()
  },
  testTimeoutMs,
)

describe.skipIf(withoutPostgres !== false)('PostgreSQL', () => {
  test(
    'three servers that are killed make the same gradebook of the same deliveries',
    async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres.stop())
      const keyFile = ['--encryption-key-file', 'sealing.key']
      const fleet = await startFleet(freshHome(), postgres.url, 3, keyFile)
      onTestFinished(async () => void (await fleet.stop()))
      const faults = await deliverAll(fleet)
      const { database } = await openAcademyOnPostgres({ url: postgres.url, env: {} }, () => new Date())
      await expectWhole(database, faults)
      await database.close()
    },
    testTimeoutMs,
  )
})

const learners = 10
const items = ['essay', 'exam', 'quiz']
const begin = Date.parse('2026-01-01T00:00:00.000Z')
const deliveryTimeoutMs = 120_000

/** An event: a grade (null if cleared) or progress. The latest event counts. */
interface Event {
  readonly number: number
  readonly kind: 'standard' | 'thinkific'
  readonly learner: string
  readonly item: string
  readonly value: number | null
  readonly published: boolean
}

/** Makes events; the same seed gives the same events. */
function eventsOf(count: number, seed: number): Event[] {
  const one = fc.record({
    kind: fc.constantFrom('standard' as const, 'standard' as const, 'thinkific' as const),
    learner: fc.nat(learners - 1).map((number) => `learner-${number}`),
    item: fc.constantFrom(...items),
    value: fc.option(fc.integer({ min: 0, max: 120 }), { freq: 8 }),
    published: fc.nat(5).map((number) => number > 0),
  })
  return fc.sample(one, { numRuns: count, seed }).map((event, number) => {
    const value = event.kind === 'thinkific' ? Math.min(100, event.value ?? 0) : event.value
    return { number, ...event, value }
  })
}

/** Returns all events in random order, every third one twice. */
function shuffled(events: readonly Event[], seed: number): Event[] {
  const all = [...events, ...events.filter(({ number }) => number % 3 === 0)]
  const keys = fc.sample(fc.noBias(fc.nat()), { numRuns: all.length, seed: seed + 1 })
  return all
    .map((event, index) => ({ event, key: keys[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ event }) => event)
}

/** Users, courses and integrations that events are about. */
async function connectAll({ urls, key }: Fleet): Promise<void> {
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${urls[0]}${path}`, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
  }
  const people = Array.from({ length: learners }, (_, number) => `learner-${number}`)
  await send('POST', '/v1/users/batch', {
    items: people.map((name) => ({ email: `${name}@school.example`, externalId: name })),
  })
  for (const kind of ['standard', 'thinkific']) {
    await send('POST', '/v1/courses', { title: kind, externalId: kind, status: 'published' })
    await send('POST', '/v1/enrollments/batch', {
      items: people.map((name) => ({ courseId: `ext:${kind}`, userId: `ext:${name}` })),
    })
    await send('PUT', `/v1/integrations/${kind}`, {
      webhookSecrets: [webhookSecret],
      gradeToProgress: 'percent',
    })
  }
  const mapping = { noun: 'course', externalKey: '25', reference: 'ext:thinkific' }
  await send('PUT', '/v1/integrations/thinkific/mappings', mapping)
}

/** Sends an event until it is accepted, as a retrying sender does; returns problems of the responses. */
async function deliver(fleet: Pick<Fleet, 'urls'>, event: Event): Promise<string | undefined> {
  const endMs = performance.now() + deliveryTimeoutMs
  for (let tries = 0; performance.now() < endMs; tries += 1) {
    const { urls } = fleet
    const material = { secret: webhookSecret, now: Date.now(), id: `event-${event.number}` }
    const { headers, body } = await sign(event.kind, payloadOf(event), material)
    const url = `${urls[(event.number + tries) % urls.length]}/webhooks/${event.kind}/grades`
    try {
      const init = { method: 'POST', headers: headers as Record<string, string>, body }
      const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(deliveryTimeoutMs) })
      const text = await answer.text()
      if (answer.status === 200) return undefined
      if (answer.status !== 503) return `${event.number}: ${answer.status} ${text}`
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
    }
    await setTimeout(10 + tries * 5)
  }
  return `${event.number}: not taken for ${deliveryTimeoutMs / 1000} s`
}

function payloadOf({ number, kind, learner, item, value, published }: Event): JsonObject {
  const at = new Date(begin + number * 1000).toISOString()
  if ((kind satisfies LmsKind) === 'thinkific') {
    const payload = {
      percentage_completed: String(value),
      course: { id: 25 },
      user: { id: 1, email: `${learner}@school.example` },
    }
    return { id: String(number), resource: 'enrollment', action: 'progress', created_at: at, payload }
  }
  const data = {
    courseId: 'ext:standard',
    userId: `ext:${learner}`,
    itemId: item,
    timestamp: at,
    scoreGiven: value,
    scoreMaximum: 100,
    gradingProgress: published ? 'FullyGraded' : 'Pending',
  }
  return { type: 'grade.updated', timestamp: at, data }
}

/** Returns the gradebook and the progress that these events must lead to: the latest one decides. */
function standingAfter(events: readonly Event[]): string[] {
  const lines: string[] = []
  const latest = (all: readonly Event[]) =>
    all.reduce((one, other) => (other.number > one.number ? other : one))
  for (const [learner, own] of Map.groupBy(events, (event) => event.learner)) {
    const grades = [
      ...Map.groupBy(
        own.filter(({ kind }) => kind === 'standard'),
        ({ item }) => item,
      ).values(),
    ].map(latest)
    for (const { item, value, published } of grades)
      lines.push(`grade ${learner} ${item} ${value} ${published}`)
    const counting = grades.filter(({ value, published }) => published && value !== null).sort(byItem)
    const mean = counting.reduce((sum, { value }) => sum + (value ?? 0), 0) / counting.length
    if (counting.length > 0) lines.push(`course ${learner} ${mean}`)
    lines.push(
      `percentage standard ${learner} ${counting.length > 0 ? Math.min(100, Math.round(mean * 1e4) / 1e4) : 0}`,
    )
    const progress = own.filter(({ kind }) => kind === 'thinkific')
    lines.push(`percentage thinkific ${learner} ${progress.length > 0 ? latest(progress).value : 0}`)
  }
  return lines.sort()
}

function byItem(one: Event, other: Event): number {
  return one.item < other.item ? -1 : 1
}
