import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { readProxies } from '../../codec/proxy.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Row, Store, Transaction } from '../database/database.ts'
import type { IdMaker } from '../database/id.ts'
import type { Reach } from '../outgoing/address-guard.ts'
import { targetsOf } from '../outgoing/guarded-client.ts'
import { type Claimed, failureOf, type Outcome, openSender, released, type Sender } from './delivery.ts'
import { deliveryOf } from './endpoint-kinds.ts'
import { type EndpointRow, endpointColumns, isKept, secretPlace, withoutSecret } from './endpoint-row.ts'
import { claim, type Ended, recordAttempt } from './messages.ts'

interface ServedOutbox {
  readonly database: Store
  stop(): Promise<void>
}

export function serveOutbox({
  reach,
  ...parts
}: Omit<DispatcherParts, 'sender'> & { readonly reach: Reach }): ServedOutbox {
  const { database } = parts
  const sender = openSender(targetsOf(reach), readProxies(reach.env ?? {}))
  const dispatcher = new Dispatcher({ ...parts, sender })
  return {
    database: {
      ...database,
      async write(work) {
        const result = await database.write(work)
        dispatcher.wake()
        return result
      },
    },
    stop: () => dispatcher.stop(),
  }
}

export interface DispatcherParts {
  readonly database: Store
  readonly sender: Sender
  readonly sealing: Sealing
  readonly newId: IdMaker
  readonly now: () => Date
  /** For signatures, which receivers compare with their own clock; default `now`. */
  readonly signedAt?: () => Date
  readonly later?: Later
  readonly publicUrl?: string | undefined
  readonly elapsedMs?: () => number
  readonly random?: () => number
}

/** `first_due` is null without a message. */
type Waiting = EndpointRow & { readonly first_due: string | null }

interface Free {
  readonly endpoint: Waiting
  readonly maxMessages: number
}

interface Claim {
  readonly lease: string
  readonly until: string
}

/** Maximum endpoints in a round; larger than the maximum number of endpoints. */
const maxWaiting = 100
/** Longer than an attempt and recording it take; after a crash, another server then sends the message. */
const leaseMs = 60_000
/** Rounds find new endpoints, and messages of other programs on the same database. */
const roundMs = 1000
const graceMs = 5000

const usualLater: Later = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return { clear: () => clearTimeout(timer) }
}

/**
 * Sends the queued messages of an academy in rounds, one at a time: each records finished attempts, claims due
 * messages and starts their delivery. Several servers on one database may run it.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts & Required<Pick<DispatcherParts, 'later' | 'elapsedMs' | 'signedAt'>>
  readonly #active = new Map<string, number>()
  #ended: Ended[] = []
  #hasEndpoints = true
  #isRunning = false
  #isAsked = false
  #nextRound: ReturnType<Later>
  readonly #aborting = new AbortController()
  #stopping: PromiseWithResolvers<void> | undefined

  constructor(parts: DispatcherParts) {
    this.#parts = { later: usualLater, elapsedMs: () => performance.now(), signedAt: parts.now, ...parts }
    this.#nextRound = this.#parts.later(() => this.#ask(), 0)
  }

  wake(): void {
    if (!this.#stopping && this.#hasEndpoints) this.#ask()
  }

  /** Starts no further attempts, waits briefly for running ones, and leaves the rest to the next server. */
  async stop(): Promise<void> {
    this.#stopping = Promise.withResolvers()
    const timer = this.#parts.later(() => this.#aborting.abort(), graceMs)
    this.#ask()
    await this.#stopping.promise
    timer.clear()
    await this.#parts.sender.close()
  }

  #ask(): void {
    this.#isAsked = true
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#isAsked) {
      this.#isAsked = false
      const ms = await this.#round().catch(() => {
        // The database is locked or unreachable: try again later, whatever was requested.
        this.#isAsked = false
        return roundMs
      })
      // Not before the round: time may come for the next one meanwhile.
      this.#nextRound.clear()
      if (!this.#stopping) this.#nextRound = this.#parts.later(() => this.#ask(), ms)
    }
    this.#isRunning = false
    if (this.#active.size === 0 && this.#ended.length === 0) this.#stopping?.resolve()
  }

  /** Milliseconds until the next round. */
  async #round(): Promise<number> {
    const date = this.#parts.now()
    const waiting = this.#stopping ? [] : await this.#waitingEndpoints(date)
    this.#hasEndpoints = waiting.length > 0
    const ended = this.#ended.splice(0)
    const free = this.#freeEndpoints(waiting, ended, date)
    try {
      if (ended.length > 0 || free.length > 0) await this.#commit(ended, free, date)
    } catch (error) {
      // While stopping, unrecorded messages are sent again after their lease.
      this.#ended = this.#stopping ? [] : [...ended, ...this.#ended]
      throw error
    }
    const next = waiting
      .filter((endpoint) => endpoint.first_due !== null && this.#roomOf(endpoint) > 0)
      .map((endpoint) => Date.parse(opensAt(endpoint)) - date.getTime())
      .filter((ms) => ms > 0)
    return Math.min(roundMs, ...next)
  }

  /** All of them: an academy has fewer than 100. */
  #waitingEndpoints(date: Date): Promise<Waiting[]> {
    return this.#parts.database.all<Waiting & Row>(sql`
      select ${endpointColumns}, (
        select m.due_at from webhook_messages m where m.endpoint_id = e.id and m.due_at is not null
        order by m.due_at limit 1) as first_due
      from webhook_endpoints e where e.status = 'active' and ${isKept(date.toISOString())}
      order by e.created_at limit ${maxWaiting}`)
  }

  #freeEndpoints(waiting: readonly Waiting[], ended: readonly Ended[], date: Date): Free[] {
    const time = date.toISOString()
    // A finished message may release others that wait for it.
    const released = new Set(ended.map(({ endpointId }) => endpointId))
    const pausing = new Set(
      ended.flatMap(({ endpointId, outcome }) => (outcome.pauseMs > 0 ? endpointId : [])),
    )
    return waiting.flatMap((endpoint) => {
      const { id, first_due: due } = endpoint
      const room = this.#roomOf(endpoint)
      const isPaused = pauseEnd(endpoint) > time || pausing.has(id)
      const isDue = !isPaused && (released.has(id) || (due !== null && due <= time))
      return isDue && room > 0 ? [{ endpoint, maxMessages: room * deliveryOf(endpoint).maxMessages }] : []
    })
  }

  async #commit(ended: readonly Ended[], free: readonly Free[], now: Date): Promise<void> {
    const { database, newId } = this.#parts
    const lease = randomBytes(12).toString('base64url')
    const until = new Date(now.getTime() + leaseMs).toISOString()
    const claimed = await database.write(async (transaction) => {
      for (const each of ended) await recordAttempt({ database: transaction, now, newId }, each)
      const all: { readonly endpoint: Waiting; readonly messages: readonly Claimed[] }[] = []
      for (const { endpoint, maxMessages } of free) {
        const { intervalMs, maxMessages: perDelivery } = deliveryOf(endpoint)
        if (intervalMs > 0 && !(await reserve(transaction, endpoint.id, now, intervalMs))) continue
        const claiming = { endpointId: endpoint.id, now, until, lease, maxMessages, isBatch: perDelivery > 1 }
        const messages = await claim(transaction, claiming)
        all.push({ endpoint, messages })
      }
      return all
    })
    for (const { endpoint, messages } of claimed) {
      const { maxMessages } = deliveryOf(endpoint)
      for (let index = 0; index < messages.length; index += maxMessages) {
        void this.#send(endpoint, messages.slice(index, index + maxMessages), { lease, until })
      }
    }
  }

  async #send(endpoint: EndpointRow, messages: readonly Claimed[], { lease, until }: Claim): Promise<void> {
    const { now, elapsedMs, random = Math.random } = this.#parts
    const { id: endpointId } = endpoint
    this.#active.set(endpointId, (this.#active.get(endpointId) ?? 0) + 1)
    const startedAt = now().toISOString()
    const beganMs = elapsedMs()
    const outcomes = await this.#attempt(endpoint, messages)
    const durationMs = Math.max(0, Math.round(elapsedMs() - beganMs))
    const active = (this.#active.get(endpointId) ?? 1) - 1
    if (active > 0) this.#active.set(endpointId, active)
    else this.#active.delete(endpointId)
    const chance = random()
    // After the lease, another server may be sending the messages.
    if (now().toISOString() < until) {
      for (const [index, message] of messages.entries()) {
        const outcome = outcomes[index]
        if (!outcome) continue
        this.#ended.push({ message, endpointId, lease, startedAt, durationMs, outcome, chance })
      }
    }
    this.#ask()
  }

  /** Delivers messages by the kind of their endpoint. Returns the outcome of each; never throws. */
  async #attempt(endpoint: EndpointRow, messages: readonly Claimed[]): Promise<readonly Outcome[]> {
    const { sender, sealing, database, publicUrl, now, signedAt, later } = this.#parts
    const stopping = this.#aborting.signal
    const secrets = new Set<string>()
    const ending = new AbortController()
    const end = () => ending.abort()
    stopping.addEventListener('abort', end, { once: true })
    const timer = later(end, attemptMs)

    function failed(error: unknown): Outcome {
      if (error instanceof UnreadableSecret) {
        return { ...failureOf(error), result: `Cannot be signed: ${error.message}`, pauseMs: unreadableMs }
      }
      if (stopping.aborted) return released
      if (!ending.signal.aborted) return failureOf(error)
      return { ...failureOf(error), result: `No response within ${attemptMs / 1000} s` }
    }

    try {
      const outcome = await deliveryOf(endpoint).deliver(messages, {
        ...{ endpoint, database, now: now(), signedAt: signedAt() },
        dashboardUrl: publicUrl === undefined ? null : `${publicUrl}/dashboard`,
        open: (sealed) => {
          const secret = openFor(sealing, secretPlace(endpoint.id), sealed)
          secrets.add(secret)
          return secret
        },
        post: (request) => {
          const [, credential] = request.headers['authorization']?.split(' ') ?? []
          if (credential) secrets.add(credential)
          if (endpoint.kind === 'standard')
            for (const value of new URL(request.url).searchParams.values()) secrets.add(value)
          return sender.send({ ...request, signal: ending.signal })
        },
      })
      const outcomes = 'kind' in outcome ? messages.map(() => outcome) : outcome
      return outcomes.map((each) => redacted(each, secrets))
    } catch (error) {
      const outcome = redacted(failed(error), secrets)
      return messages.map(() => outcome)
    } finally {
      timer.clear()
      stopping.removeEventListener('abort', end)
    }
  }

  #roomOf(endpoint: EndpointRow): number {
    return deliveryOf(endpoint).maxConcurrent - (this.#active.get(endpoint.id) ?? 0)
  }
}

function opensAt(endpoint: Waiting): string {
  return [endpoint.first_due ?? '', pauseEnd(endpoint)].toSorted().at(-1) ?? ''
}

function pauseEnd({ paused_until: paused, next_delivery_at: next }: EndpointRow): string {
  return [paused ?? '', next ?? ''].toSorted().at(-1) ?? ''
}

/** False if another server was first. */
async function reserve(
  transaction: Transaction,
  endpointId: string,
  now: Date,
  intervalMs: number,
): Promise<boolean> {
  const next = new Date(now.getTime() + intervalMs).toISOString()
  const reserved = await transaction.run(sql`
    update webhook_endpoints set next_delivery_at = ${next}
    where id = ${endpointId} and (next_delivery_at is null or next_delivery_at <= ${now.toISOString()})`)
  return reserved > 0
}

export type Later = (work: () => void, ms: number) => { clear(): void }

/** From the DNS lookup to the end of the response. */
const attemptMs = 15_000
/** Delay of messages if the secret of their endpoint cannot be decrypted. */
const unreadableMs = 60_000

class UnreadableSecret extends Error {}

function openFor(sealing: Sealing, place: string, sealed: string): string {
  try {
    return sealing.open(place, sealed)
  } catch (error) {
    throw new UnreadableSecret(error instanceof Error ? error.message : String(error))
  }
}

/** The outcome is stored and shown, and a receiver may return the secrets. */
function redacted(outcome: Outcome, secrets: ReadonlySet<string>): Outcome {
  const clean = (text: string) => [...secrets].reduce(withoutSecret, text)
  return { ...outcome, result: clean(outcome.result), response: clean(outcome.response) }
}
