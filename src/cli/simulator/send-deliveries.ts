import { bodyText, readBytes } from '../../client/decode.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import type { Transport } from '../../contract/http.ts'
import type { SignedDelivery } from '../../webhooks/delivery.ts'
import type { Context } from '../command/context.ts'
import { debugLine } from '../terminal/io.ts'
import { answerIn, type DeliveryAnswer } from './delivery-answer.ts'
import { type Destination, requestOf } from './destination.ts'

const maximumAnswerBytes = 256 * 1024
const idleTimeoutMs = 30_000

/** The answers to deliveries, as they come, with at most `concurrency` of them on their way. Throws faults of the network. */
export async function* sendDeliveries(
  context: Pick<Context, 'io' | 'settings'>,
  destination: Destination,
  order: Iterable<number>,
  deliveryOf: (index: number) => Promise<SignedDelivery>,
  concurrency: number,
): AsyncGenerator<DeliveryAnswer> {
  const transport = await destination.transport()
  const waiting = new Map<number, Promise<readonly [number, DeliveryAnswer]>>()
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
    // What is still on its way fails or not: nobody looks at it.
    await Promise.allSettled(waiting.values())
  }
}

async function next(
  waiting: Map<number, Promise<readonly [number, DeliveryAnswer]>>,
): Promise<DeliveryAnswer> {
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
): Promise<DeliveryAnswer> {
  const started = io.now()
  const request = { ...requestOf(url, delivery), signal: io.signal }
  const reply = await exchangeWithin(transport, request, { timeoutMs: settings.timeout.value, idleTimeoutMs })
  const bytes = await readBytes(reply, maximumAnswerBytes)
  const durationMs = io.now() - started
  if (settings.debug.value) await debugLine(io, `POST ${url} → ${reply.status} (${durationMs} ms)`)
  const text = bytes === null ? '' : bodyText(reply, bytes)
  return { delivery: number, status: reply.status, ...answerIn(reply.status, text), durationMs }
}
