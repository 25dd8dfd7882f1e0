import { bodyText, readBytes } from '../../client/reply.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { Transport } from '../../contract/http.ts'
import type { SignedDelivery } from '../../lms/delivery.ts'
import type { Context } from '../command/context.ts'
import { writeDebug } from '../terminal/io.ts'
import { type Destination, requestOf } from './destination.ts'

const maxResponseBytes = 256 * 1024
const idleTimeoutMs = 30_000

/**
 * Sends deliveries, at most `concurrency` at once, and yields their results as they arrive. Throws network
 * errors.
 */
export async function* sendDeliveries(
  context: Pick<Context, 'io' | 'settings'>,
  destination: Destination,
  order: Iterable<number>,
  deliveryOf: (index: number) => Promise<SignedDelivery>,
  concurrency: number,
): AsyncGenerator<DeliveryResult> {
  const transport = await destination.transport()
  const waiting = new Map<number, Promise<readonly [number, DeliveryResult]>>()
  let slot = 0
  try {
    for (const index of order) {
      context.io.signal.throwIfAborted()
      const own = slot++
      const answer = deliveryOf(index).then((delivery) =>
        sendOne(context, transport, destination.url, delivery, index + 1),
      )
      waiting.set(
        own,
        answer.then((value) => [own, value] as const),
      )
      if (waiting.size >= concurrency) yield await next(waiting)
    }
    while (waiting.size > 0) yield await next(waiting)
  } finally {
    // The results of the remaining requests are not used.
    await Promise.allSettled(waiting.values())
  }
}

async function next(
  waiting: Map<number, Promise<readonly [number, DeliveryResult]>>,
): Promise<DeliveryResult> {
  const [slot, answer] = await Promise.race(waiting.values())
  waiting.delete(slot)
  return answer
}

async function sendOne(
  { io, settings }: Pick<Context, 'io' | 'settings'>,
  transport: Transport,
  url: string,
  delivery: SignedDelivery,
  number: number,
): Promise<DeliveryResult> {
  const started = io.now()
  const request = { ...requestOf(url, delivery), signal: io.signal }
  const reply = await exchangeWithin(transport, request, { timeoutMs: settings.timeout.value, idleTimeoutMs })
  const bytes = await readBytes(reply, maxResponseBytes)
  const durationMs = io.now() - started
  if (settings.debug.value) await writeDebug(io, `POST ${url} → ${reply.status} (${durationMs} ms)`)
  const text = bytes === null ? '' : bodyText(reply, bytes)
  return { delivery: number, status: reply.status, ...deliveryResultOf(reply.status, text), durationMs }
}

export interface DeliveryResult {
  /** Number of the delivery, from 1. */
  readonly delivery: number
  readonly status: number
  readonly outcome: string
  readonly deliveryId: string | null
  /** Reason: what is missing, why it was ignored, or the problem's code. */
  readonly reason: string | null
  readonly durationMs: number
}

/** Reads the response of a platform. Another platform may only have a status. */
function deliveryResultOf(
  status: number,
  text: string,
): Pick<DeliveryResult, 'outcome' | 'deliveryId' | 'reason'> {
  const body = parseJsonOrNull(text)
  const members = isJsonObject(body) ? body : {}
  const textAt = (name: string) => (typeof members[name] === 'string' ? members[name] : null)
  const missing = Array.isArray(members['missing']) ? `${members['missing'].join(' and ')} not found` : null
  if (status >= 200 && status < 300) {
    return {
      outcome: textAt('status') ?? 'accepted',
      deliveryId: textAt('deliveryId'),
      reason: missing ?? textAt('reason'),
    }
  }
  // Other statuses, such as 404 or 429, do not mean that the delivery was examined.
  const outcome = status === 401 || status === 403 ? 'refused' : 'failed'
  return { outcome, deliveryId: null, reason: textAt('code') ?? textAt('detail') }
}
