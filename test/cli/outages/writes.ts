import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { sign } from '../../../src/lms/verify.ts'
import { webhookSecret } from '../../helpers/lms.ts'
import type { Fleet } from './server-process.ts'

/** Number of learners and courses; each pair is enrolled, or has progress, at most once. */
export const side = 100
/** Users that one request creates, all or none. */
export const batchSize = 5
const writeTimeoutMs = 120_000

/** A write, which is sent until it gets a response. */
export interface Write {
  readonly number: number
  readonly kind: 'course' | 'user' | 'users' | 'enrolment' | 'progress' | 'delivery'
  /** Milliseconds after which its client disconnects and sends it again; null for a client that waits. */
  readonly leavesAfterMs: number | null
}

/** Responses to all writes. */
export interface Told {
  /** Ids in each successful response, by number of the write. */
  readonly done: ReadonlyMap<number, readonly string[]>
  /** Number of responses that the database is away, and of missing responses. */
  readonly unavailable: number
  readonly unanswered: number
  /** Responses that no client should get. */
  readonly wrong: readonly string[]
}

/** Makes writes of all kinds; the same seed gives the same writes. */
export function writesOf(count: number, seed: number): Write[] {
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
export function subjectOf({ number }: Write) {
  const learner = `learner-${number % side}`
  const course = `course-${Math.floor(number / side) % side}`
  return { learner, course, percentage: number % 101, title: `Written ${number}`, item: `item-${number}` }
}

/** Returns the e-mail addresses that a write creates. */
export function emailsOf({ kind, number }: Write): string[] {
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
export function openWriter(fleet: Pick<Fleet, 'urls' | 'key'>) {
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
