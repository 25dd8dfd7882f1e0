import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { idMaker } from '../../../src/server/database/id.ts'
import { openSender } from '../../../src/server/events/delivery.ts'
import type { Later } from '../../../src/server/events/dispatcher.ts'
import { Dispatcher, type DispatcherParts } from '../../../src/server/events/dispatcher.ts'
import { targetsOf } from '../../../src/server/outgoing/guarded-client.ts'
import { type Clock, type Person, start, type TestAcademy } from '../../helpers/academy.ts'
import { listen } from '../../helpers/listen.ts'

/** A request as a receiver got it. */
export interface Got {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly type: string
  readonly data: Record<string, unknown>
}

/** A receiver on the loopback, and its requests. */
export interface Receiver {
  readonly url: string
  readonly got: readonly Got[]
  /** Sets its response from now on. */
  answer: (response: ServerResponse, got: Got) => void
}

export const accept = (response: ServerResponse) => void response.writeHead(204).end()
export const status =
  (code: number, headers: Record<string, string> = {}, text = '') =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end(text)

export async function startReceiver(answer: Receiver['answer'] = accept): Promise<Receiver> {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const each = { url: request.url ?? '', headers: request.headers, body, ...JSON.parse(body) }
    got.push(each)
    receiver.answer(response, each)
  })
  const { port, close } = await listen(server)
  onTestFinished(close)
  const receiver: Receiver = { url: `http://127.0.0.1:${port}/hooks`, got, answer }
  return receiver
}

/** Timers that fire when the clock of the academy advances. */
export function timersOf(clock: Clock) {
  const timers = new Set<{ at: number; work: () => void }>()
  const later: Later = (work, ms) => {
    const timer = { at: clock.now().getTime() + ms, work }
    timers.add(timer)
    return { clear: () => void timers.delete(timer) }
  }
  return {
    later,
    advance(ms: number) {
      clock.advance(ms)
      for (const timer of [...timers].filter(({ at }) => at <= clock.now().getTime())) {
        timers.delete(timer)
        timer.work()
      }
    },
  }
}

/** A dispatcher with the academy's clock; every commit of the academy wakes it. */
export function openDispatcher(
  academy: TestAcademy,
  more: Partial<DispatcherParts> & Pick<Partial<Parameters<typeof targetsOf>[0]>, 'allow'> = {},
) {
  const { database, sealing, clock } = academy
  const { later, advance } = timersOf(clock)
  const elapsedMs = () => clock.now().getTime() - Date.parse(start)
  const parts: DispatcherParts = {
    ...{ database, sealing, now: clock.now, newId: idMaker(clock.now), later, elapsedMs, random: () => 0.5 },
    sender: openSender(targetsOf({ allow: more.allow ?? [], loopback: true })),
    ...more,
  }
  const dispatcher = new Dispatcher(parts)
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= dispatcher.stop()
    return stopped
  }
  onTestFinished(async () => {
    if (more.later) return
    const ended = stop()
    advance(5000)
    await ended
  })
  return { wake: () => dispatcher.wake(), stop, advance, later }
}

/** Makes an endpoint for a URL; returns it with its secret. */
export async function makeEndpoint(
  admin: Person,
  url: string,
  more: object = {},
): Promise<{ id: string; url: string; secret: string }> {
  const { status, body } = await admin.post('/v1/webhooks/endpoints', { url, ...more })
  expect(status).toBe(201)
  return body
}

/** Returns the messages of an endpoint, oldest first. */
export async function messagesOf(admin: Person, endpointId: string) {
  const { body } = await admin.get(`/v1/webhooks/messages?endpoint_id=${endpointId}&limit=100`)
  return body.data.toReversed()
}

/** Returns a function that waits until the messages of an endpoint match. */
type Eventually = ReturnType<typeof expect.poll<unknown>>

/** Waits until the messages of an endpoint match. */
export function waitFor(admin: Person, endpointId: string): Eventually {
  return expect.poll(() => messagesOf(admin, endpointId), { interval: 10, timeout: 60_000 })
}
