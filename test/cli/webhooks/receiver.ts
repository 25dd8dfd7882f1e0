import type { LmsKind } from '../../../src/contract/constants.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../../src/contract/http.ts'
import { DeliveryFault, type Trust } from '../../../src/lms/delivery.ts'
import type { LmsEvent } from '../../../src/lms/event.ts'
import { readEvent } from '../../../src/lms/read-event.ts'
import { verify } from '../../../src/lms/verify.ts'

/** A platform that accepts deliveries of every kind and keeps their events. */
export interface Receiver {
  readonly transport: Transport
  readonly requests: readonly HttpRequest[]
  /** Applied events in order. */
  readonly events: readonly LmsEvent[]
}

/** Creates a receiver with this trust; it responds as docs/webhooks.md says and recognises duplicates. */
export function receiver(trust: Trust): Receiver {
  const requests: HttpRequest[] = []
  const events: LmsEvent[] = []
  const seen = new Set<string>()
  let newest = ''

  async function answerTo(request: HttpRequest): Promise<readonly [number, object]> {
    const { pathname, searchParams } = new URL(request.url)
    const kind = /^\/webhooks\/(\w+)\/grades$/.exec(pathname)?.[1] as LmsKind
    try {
      const rawBody = Buffer.from(String(request.body))
      const { key, body } = await verify(
        kind,
        { headers: request.headers, query: searchParams, rawBody },
        trust,
      )
      if (seen.has(key)) return [200, { status: 'duplicate', deliveryId: 'whd_1' }]
      seen.add(key)
      const event = readEvent(kind, body, { gradeItems: {}, defaultGradeMaximum: 100 })
      if (event.type === 'ignored') return [200, { status: 'ignored', reason: event.reason }]
      if (event.learner.some(({ value }) => value === 'nobody')) {
        return [202, { status: 'unmatched', deliveryId: 'whd_1', missing: ['learner'] }]
      }
      const at = event.type === 'grade' ? event.gradedAt : event.at
      if (at < newest) return [200, { status: 'stale', deliveryId: 'whd_1' }]
      newest = at
      events.push(event)
      return [200, { status: 'applied', deliveryId: 'whd_1', grade: null, progress: null }]
    } catch (error) {
      if (!(error instanceof DeliveryFault)) throw error
      return [error.code === 'malformed_payload' ? 400 : 401, { code: error.code, detail: error.message }]
    }
  }

  const transport = async (request: HttpRequest): Promise<HttpResponse> => {
    requests.push(request)
    const [status, body] = await answerTo(request)
    return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }
  return { transport, requests, events }
}
