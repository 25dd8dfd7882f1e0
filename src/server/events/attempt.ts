import type { Sealing } from '../access/sealing.ts'
import type { Claimed } from './claim.ts'
import type { Delivery } from './endpoint-kind.ts'
import { deliveryOf } from './endpoint-kinds.ts'
import { type EndpointRow, secretPlace } from './endpoint-row.ts'
import { withoutSecret } from './hidden-url.ts'
import { failureOf, type Outcome } from './outcome.ts'
import type { Send } from './sender.ts'

/** Unless the returned timer is cleared. */
export type Later = (work: () => void, ms: number) => { clear(): void }

export interface AttemptParts {
  readonly send: Send
  readonly sealing: Sealing
  readonly database: Delivery['database']
  readonly publicUrl?: string | undefined
  readonly now: () => Date
  /** For signatures: receivers compare them with their own clock. */
  readonly signedAt: () => Date
  readonly later: Later
  /** Aborted attempts do not count. */
  readonly stopping: AbortSignal
}

/** From the DNS lookup to the end of the response. */
const attemptMs = 15_000
/** Delay of messages if the secret of their endpoint cannot be decrypted. */
const unreadableMs = 60_000

const released: Outcome = { kind: 'released', status: null, result: '', response: '', pauseMs: 0 }

class UnreadableSecret extends Error {}

/**
 * Creates a function that delivers messages by the kind of their endpoint and returns the outcome of each; it
 * never throws.
 */
export function attemptsWith({
  send,
  sealing,
  database,
  publicUrl,
  now,
  signedAt,
  later,
  stopping,
}: AttemptParts) {
  const dashboardUrl = publicUrl === undefined ? null : `${publicUrl}/dashboard`

  function openFor(place: string, sealed: string): string {
    try {
      return sealing.open(place, sealed)
    } catch (error) {
      throw new UnreadableSecret(error instanceof Error ? error.message : String(error))
    }
  }

  return async (endpoint: EndpointRow, messages: readonly Claimed[]): Promise<readonly Outcome[]> => {
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
        ...{ endpoint, database, dashboardUrl, now: now(), signedAt: signedAt() },
        open: (sealed) => {
          const secret = openFor(secretPlace(endpoint.id), sealed)
          secrets.add(secret)
          return secret
        },
        post: (request) => {
          const [, credential] = request.headers['authorization']?.split(' ') ?? []
          if (credential) secrets.add(credential)
          if (endpoint.kind === 'standard')
            for (const value of new URL(request.url).searchParams.values()) secrets.add(value)
          return send({ ...request, signal: ending.signal })
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
}

/** The outcome is stored and shown, and a receiver may return the secrets. */
function redacted(outcome: Outcome, secrets: ReadonlySet<string>): Outcome {
  const clean = (text: string) => [...secrets].reduce(withoutSecret, text)
  return { ...outcome, result: clean(outcome.result), response: clean(outcome.response) }
}
