import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/codec/json-text.ts'
import type { LmsKind } from '../../../src/contract/constants.ts'
import { sign } from '../../../src/lms/sign.ts'
import { webhookSecret } from '../../helpers/lms.ts'
import type { Fleet } from './server-process.ts'

const learners = 10
const items = ['essay', 'exam', 'quiz']
const begin = Date.parse('2026-01-01T00:00:00.000Z')
const closeTimeoutMs = 60_000

/** An event: a grade (null if cleared) or progress. The latest event counts. */
export interface Event {
  readonly number: number
  readonly kind: 'standard' | 'thinkific'
  readonly learner: string
  readonly item: string
  readonly value: number | null
  readonly published: boolean
}

/** Makes events; the same seed gives the same events. */
export function eventsOf(count: number, seed: number): Event[] {
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
export function shuffled(events: readonly Event[], seed: number): Event[] {
  const all = [...events, ...events.filter(({ number }) => number % 3 === 0)]
  const keys = fc.sample(fc.noBias(fc.nat()), { numRuns: all.length, seed: seed + 1 })
  return all
    .map((event, index) => ({ event, key: keys[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ event }) => event)
}

/** Users, courses and integrations that events are about. */
export async function connectAll({ urls, key }: Fleet): Promise<void> {
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
export async function deliver(fleet: Pick<Fleet, 'urls'>, event: Event): Promise<string | undefined> {
  const endMs = performance.now() + closeTimeoutMs
  for (let tries = 0; performance.now() < endMs; tries += 1) {
    const { urls } = fleet
    const material = { secret: webhookSecret, now: Date.now(), id: `event-${event.number}` }
    const { headers, body } = await sign(event.kind, payloadOf(event), material)
    const url = `${urls[(event.number + tries) % urls.length]}/webhooks/${event.kind}/grades`
    try {
      const init = { method: 'POST', headers: headers as Record<string, string>, body }
      const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(closeTimeoutMs) })
      const text = await answer.text()
      if (answer.status === 200) return undefined
      if (answer.status !== 503) return `${event.number}: ${answer.status} ${text}`
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
    }
    await setTimeout(10 + tries * 5)
  }
  return `${event.number}: not taken for ${closeTimeoutMs / 1000} s`
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
export function standingAfter(events: readonly Event[]): string[] {
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
