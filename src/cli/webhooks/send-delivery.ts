import { bodyText, readBytes } from '../../client/reply.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { SignedDelivery } from '../../lms/delivery.ts'
import type { Context } from '../command/context.ts'
import { writeDebug } from '../terminal/io.ts'
import { type Destination, requestOf } from './destination.ts'

const maxResponseBytes = 256 * 1024
const idleTimeoutMs = 30_000

/** Throws network errors. */
export async function sendDelivery(
  { io, settings }: Pick<Context, 'io' | 'settings'>,
  destination: Destination,
  delivery: SignedDelivery,
): Promise<DeliveryResult> {
  const { url } = destination
  const transport = await destination.transport()
  const started = io.now()
  const request = { ...requestOf(url, delivery), signal: io.signal }
  const reply = await exchangeWithin(transport, request, { timeoutMs: settings.timeout.value, idleTimeoutMs })
  const bytes = await readBytes(reply, maxResponseBytes)
  const durationMs = io.now() - started
  if (settings.debug.value) await writeDebug(io, `POST ${url} → ${reply.status} (${durationMs} ms)`)
  const text = bytes === null ? '' : bodyText(reply, bytes)
  return { delivery: 1, status: reply.status, ...deliveryResultOf(reply.status, text), durationMs }
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
