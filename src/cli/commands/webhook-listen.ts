import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isLoopback } from '../../client/request.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import type { ClosableTransport } from '../../client/undici.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { type EventPattern, eventPatterns, testEvent } from '../../contract/actions.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { verifyStandard } from '../../lms/standard.ts'
import { valueAt } from '../../tables/column.ts'
import { type Command, type Given, plainText } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { serverOf } from '../local-server/running-servers.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { type Io, streamOf } from '../terminal/io.ts'

/** Lifetime of the endpoint, in case this process is killed before it removes it. */
const lifetimeMs = 5 * 60_000
const renewIntervalMs = 2 * 60_000
/** Time to wait for the test event, which the server sends on request. */
const maxReachMs = 20_000
const pollMs = 250

const flags: readonly Flag[] = [
  {
    name: 'forward-to',
    kind: 'text',
    placeholder: 'url',
    summary: 'URL to pass each event on to, with its headers and body',
  },
  {
    name: 'events',
    kind: 'words',
    placeholder: 'event,…',
    summary: 'Events such as course.published, course.* or * for all (default *)',
    choices: eventPatterns,
    hasChoicesInSummary: true,
  },
]

export const listenCommand: Command = {
  name: 'listen',
  interruption: 'ends',
  summary: 'Print the events of a server on this machine, or pass them on',
  writes: ['academy'],
  prints: ['ArrivedEvent'],
  description: `Creates a temporary webhook endpoint, prints each event that the server sends, and deletes the endpoint at the end
(Ctrl-C or SIGTERM). With --forward-to the server gets the status of that receiver, and retries what it does not
accept; the secret to verify the events with is printed at the start. -o json prints one line of JSON for each event.

The events of a local academy are sent while a server runs for it: start one first (learnctl server start).`,
  flags,
  refuses: plainText,
  examples: ['webhooks listen', 'webhooks listen --events course.* --forward-to http://localhost:3000/hooks'],
  run: listen,
}

async function listen(context: Context, given: Given): Promise<void> {
  const { session, settings, output, io } = context
  checkChoices(flags, given.flags)
  const server = await serverFor(context)
  const to = given.flags['forward-to'] === undefined ? null : String(given.flags['forward-to'])
  if (to !== null && !(URL.canParse(to) && /^https?:$/.test(new URL(to).protocol))) {
    throw new UsageError(`--forward-to must be an http or https URL, not ${JSON.stringify(to)}`)
  }
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  const events = given.flags['events'] as readonly EventPattern[] | undefined
  const body = (url: string) => ({
    ...{ url, description: 'learnctl webhooks listen', events: [...(events ?? (['*'] as const))] },
    expiresAt: expiryAfter(io.now()),
  })
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(calls.endpoints.create, { body: body('http://127.0.0.1/') }))
  }

  const forwarder = to === null ? null : await openForwarder(io, to)
  const ended = Promise.withResolvers<never>()
  const reached = Promise.withResolvers<void>()
  let secret: string | undefined
  // Prints one thing at a time in order of arrival.
  let printed: Promise<void> = Promise.resolve()
  const print = (work: () => Promise<void>) => {
    printed = printed.then(work)
    printed.catch(ended.reject)
    return printed
  }
  const onEvent = async (event: ArrivedEvent) => {
    if (event.type === testEvent) {
      reached.resolve()
      return 204
    }
    const forwarded = forwarder ? await forwarder.forward(event) : null
    await print(() => printEvent(context, event, forwarded))
    return forwarded ? (forwarded.status ?? 500) : 204
  }
  // An output that waits would stop the listener.
  streamOf(io.stdout)
  const listener = await listenForEvents(() => secret, io.now, onEvent)
  let id: string | undefined
  try {
    const { data } = await caller.call(calls.endpoints.create, {
      body: body(listener.url),
      signal: io.signal,
    })
    id = String(valueAt(data, 'id'))
    secret = String(valueAt(data, 'secret'))
    await requireReached(context, caller, id, reached.promise)
    await output.note(`Listening for events of ${new URL(server).host}; press Ctrl-C to stop`)
    if (to !== null) await output.note(`Events are forwarded to ${to}, signed with ${secret}`)
    await Promise.race([ended.promise, renewEndpoint(context, caller, id)])
  } finally {
    await listener.close()
    await forwarder?.close()
    if (id !== undefined) await deleteEndpoint(caller, id)
  }
}

/** Throws unless a test event arrives: a server that may not send to this machine would otherwise go unnoticed. */
async function requireReached(
  { io }: Context,
  caller: Caller,
  endpointId: string,
  reached: Promise<void>,
): Promise<void> {
  const { calls } = await import('../../contract/calls.ts')
  const { data } = await caller.call(calls.endpoints.test, { params: { endpointId }, signal: io.signal })
  const params = { messageId: String(valueAt(data, 'id')) }
  let isReached = false
  const arrival = reached.then(() => {
    isReached = true
  })
  for (const end = io.now() + maxReachMs; !isReached; ) {
    await Promise.race([arrival, io.sleep(pollMs, io.signal)])
    if (isReached) return
    const { data: message } = await caller.call(calls.messages.get, { params, signal: io.signal })
    const result = valueAt(message, 'lastResult')
    if (typeof result !== 'string' && io.now() < end) continue
    throw new CommandError('not_reached', 'failure', 'The server cannot send events to this machine', {
      why: [typeof result === 'string' ? result : 'No event arrived within 20 s'],
      hint: 'Start the server on the loopback, or with --webhook-allow 127.0.0.1',
    })
  }
}

async function renewEndpoint({ io }: Context, caller: Caller, endpointId: string): Promise<never> {
  const { calls } = await import('../../contract/calls.ts')
  for (;;) {
    await io.sleep(renewIntervalMs, io.signal).catch(() => {})
    io.signal.throwIfAborted()
    const body = { expiresAt: expiryAfter(io.now()) }
    await caller.call(calls.endpoints.update, { params: { endpointId }, body, signal: io.signal })
  }
}

async function deleteEndpoint(caller: Caller, endpointId: string): Promise<void> {
  const { calls } = await import('../../contract/calls.ts')
  try {
    await caller.call(calls.endpoints.delete, { params: { endpointId } })
  } catch (error) {
    // If the server is gone, the endpoint expires by itself.
    if (error instanceof ApiError && error.status !== 404) throw error
  }
}

async function printEvent(
  { io, settings, output }: Context,
  event: ArrivedEvent,
  forwarded: Forwarded | null,
): Promise<void> {
  const { id, type, timestamp, data } = event
  if (/^jsonl?$/.test(settings.output.value)) {
    return output.text(`${JSON.stringify({ id, type, timestamp, data, forwarded })}\n`)
  }
  const about = String(data['learnerId'] ?? data['id'] ?? '')
  const outcome = forwarded && (forwarded.status === null ? forwarded.error : `HTTP ${forwarded.status}`)
  const cells = [
    timestamp,
    type,
    about,
    id,
    ...(forwarded ? [`${outcome} (${forwarded.durationMs} ms)`] : []),
  ]
  await output.text(`${cells.map((cell) => escapeHidden(cell)).join(io.stdout.isTTY ? '  ' : '\t')}\n`)
}

/**
 * Returns the address of the server that sends the events: that of the profile, or of the local academy's running
 * server.
 */
async function serverFor({ session, directories }: Context): Promise<string> {
  const target = session.target()
  if (target.kind === 'local') {
    const running = await serverOf(directories.state, target.database)
    if (running) return running.url
    throw new CommandError('not_running', 'usage', `No server is running for ${target.database}`, {
      why: ['Events are sent while a server runs for the academy'],
      hint: 'Start one in another terminal: learnctl server start',
    })
  }
  if (isLoopback(target.url)) return target.url
  throw new CommandError(
    'not_local',
    'usage',
    `${new URL(target.url).host} cannot send events to this machine`,
    {
      why: ['webhooks listen requires a server on this machine'],
      hint: 'Create an endpoint for an address that it can reach: learnctl webhooks endpoints create --to <url>',
    },
  )
}

function expiryAfter(now: number): string {
  return new Date(now + lifetimeMs).toISOString()
}

interface ArrivedEvent {
  /** Identifies the event in each attempt to deliver it. */
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: JsonObject
  /** Headers that a receiver needs: the content type and those of the signature. */
  readonly headers: HttpHeaders
  readonly body: string
}

const forwardedHeaders = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

/** Refuses events that are not signed with the secret. `onEvent` returns the status of the response. */
async function listenForEvents(
  secret: () => string | undefined,
  now: () => number,
  onEvent: (event: ArrivedEvent) => Promise<number>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { origin, close } = await listenOnLoopback(async (request, body) => {
    if (request.method !== 'POST') return 405
    const headers: HttpHeaders = Object.fromEntries(
      forwardedHeaders.flatMap((name) =>
        request.headers[name] ? [[name, String(request.headers[name])]] : [],
      ),
    )
    const known = secret()
    const event = known === undefined ? undefined : eventIn(body, headers, known, now())
    return event ? onEvent(event) : 401
  })
  return { url: `${origin}/`, close }
}

/** Undefined if the event is not signed or is none. */
function eventIn(
  rawBody: Buffer,
  headers: HttpHeaders,
  secret: string,
  now: number,
): ArrivedEvent | undefined {
  try {
    const id = verifyStandard({ headers, rawBody, query: new URLSearchParams() }, [secret], now)
    const body = rawBody.toString('utf8')
    const event: unknown = JSON.parse(body)
    if (!isJsonObject(event) || !isJsonObject(event['data'])) return undefined
    const { type, timestamp, data } = event
    return { id, type: String(type), timestamp: String(timestamp), data: data as JsonObject, headers, body }
  } catch {
    return undefined
  }
}

interface Forwarded {
  readonly status: number | null
  readonly durationMs: number
  readonly error: string | null
}

/** Shorter than the sender's timeout. */
const timeoutMs = 10_000

/** Headers and body are kept, so that the receiver can verify them. */
async function openForwarder(io: Pick<Io, 'env' | 'now' | 'signal'>, url: string) {
  const { createNetworkTransport } = await import('../../client/network.ts')
  const transport: ClosableTransport = await createNetworkTransport({ env: io.env })
  return {
    async forward({ headers, body }: ArrivedEvent): Promise<Forwarded> {
      const began = io.now()
      try {
        const request = { method: 'POST', url, headers, body, signal: io.signal }
        const answer = await exchangeWithin(transport, request, { timeoutMs, idleTimeoutMs: timeoutMs })
        // Drain the response.
        if (answer.body && !(answer.body instanceof Uint8Array)) for await (const _ of answer.body) break
        return { status: answer.status, durationMs: io.now() - began, error: null }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return { status: null, durationMs: io.now() - began, error: message }
      }
    },
    close: () => transport.close(),
  }
}

/** Larger than any event. */
const maxBytes = 4 * 1024 * 1024

/** Listens on a free loopback port, to which any program on this machine can send; answers with a status. */
async function listenOnLoopback(
  answer: (request: IncomingMessage, body: Buffer) => Promise<number> | number,
) {
  const { createServer } = await import('node:http')
  const server = createServer(async (request, response) => {
    try {
      const bytes = await bodyOf(request)
      response.writeHead(bytes ? await answer(request, bytes) : 413).end()
    } catch {
      response.destroy()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A TCP server's address has a port.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    const bytes: Buffer = piece
    size += bytes.length
    if (size > maxBytes) return null
    pieces.push(bytes)
  }
  return Buffer.concat(pieces)
}
