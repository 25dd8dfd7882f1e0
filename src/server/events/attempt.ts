import { createCachedOpening, type Sealing } from '../access/sealing.ts'
import type { Claimed } from './claim.ts'
import { deliveryOf } from './endpoint-kinds.ts'
import { type EndpointRow, secretPlace } from './endpoint-row.ts'
import { failureOf, type Outcome } from './outcome.ts'
import type { Send } from './sender.ts'

/** Calls a function later, unless the returned timer is cleared. */
export type Later = (work: () => void, ms: number) => { clear(): void }

/** Dependencies of attempts. */
export interface AttemptParts {
  readonly send: Send
  readonly sealing: Sealing
  readonly now: () => Date
  /** Clock of the signatures, which receivers compare with their own. */
  readonly signedAt: () => Date
  readonly later: Later
  /** Aborts all attempts, which then do not count. */
  readonly stopping: AbortSignal
}

/** Timeout of a complete attempt, from the DNS lookup to the end of the response. */
const attemptMs = 15_000
/** Delay of messages if the secret of their endpoint cannot be decrypted. */
const unreadableMs = 60_000

const released: Outcome = { kind: 'released', status: null, result: '', response: '', pauseMs: 0 }

/** The secret of an endpoint cannot be decrypted. */
class UnreadableSecret extends Error {}

/**
 * Creates a function that delivers messages by the kind of their endpoint and returns the outcome of each; it
 * never throws.
 */
export function attemptsWith({ send, sealing, now, signedAt, later, stopping }: AttemptParts) {
  const cached = createCachedOpening(sealing, now)

  function openFor(place: string, sealed: string): string {
    try {
      return cached.open(place, sealed)
    } catch (error) {
      throw new UnreadableSecret(error instanceof Error ? error.message : String(error))
    }
  }

  return async (endpoint: EndpointRow, messages: readonly Claimed[]): Promise<readonly Outcome[]> => {
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
        ...{ endpoint, now: now(), signedAt: signedAt() },
        open: (sealed) => openFor(secretPlace(endpoint.id), sealed),
        post: (request) => send({ ...request, signal: ending.signal }),
      })
      return 'kind' in outcome ? messages.map(() => outcome) : outcome
    } catch (error) {
      const outcome = failed(error)
      return messages.map(() => outcome)
    } finally {
      timer.clear()
      stopping.removeEventListener('abort', end)
    }
  }
}
