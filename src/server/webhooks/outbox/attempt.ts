import { standardSignature } from '../../../webhooks/standard-signature.ts'
import { cachedOpening, type Sealing } from '../../sealing/sealing.ts'
import type { Claimed } from './claim.ts'
import { type EndpointRow, secretPlace } from './endpoint-row.ts'
import { failureOf, type Outcome, outcomeOf } from './outcome.ts'
import type { Send } from './send.ts'

/** Calls something once, later, unless the timer that it gives is cleared. */
export type Later = (work: () => void, ms: number) => { clear(): void }

/** What attempts are made with. */
export interface AttemptParts {
  readonly send: Send
  readonly sealing: Sealing
  readonly now: () => Date
  /** The time that signatures bear, which receivers compare with their own. */
  readonly signedAt: () => Date
  readonly later: Later
  /** Ends all attempts, which then do not count. */
  readonly stopping: AbortSignal
}

/** The time of an attempt as a whole, from looking up the host to the end of the response. */
const attemptMs = 15_000
/** So soon it is tried again to open a secret whose key is missing. */
const unsignedMs = 60_000

const released: Outcome = { kind: 'released', status: null, result: '', response: '', pauseMs: 0 }

/** Makes attempts, signed anew each; none of them throws. */
export function attemptsWith({ send, sealing, now, signedAt, later, stopping }: AttemptParts) {
  const { open } = cachedOpening(sealing, now)

  /** With each secret that counts (Standard Webhooks 1.0.0, Signature scheme). */
  function signed(endpoint: EndpointRow, { id, body }: Claimed): Record<string, string> {
    const seconds = Math.floor(signedAt().getTime() / 1000)
    const { secret, previous_secret: previous, previous_secret_until: until } = endpoint
    const counts = previous !== null && until !== null && until > now().toISOString()
    const signatures = [secret, ...(counts ? [previous] : [])].map((text) =>
      standardSignature(open(secretPlace(endpoint.id), text), { id, seconds, body }),
    )
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures.join(' '),
    }
  }

  return async (endpoint: EndpointRow, message: Claimed): Promise<Outcome> => {
    let headers: Readonly<Record<string, string>>
    try {
      headers = signed(endpoint, message)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { ...failureOf(error), result: `Cannot be signed: ${why}`, pauseMs: unsignedMs }
    }
    const ending = new AbortController()
    const end = () => ending.abort()
    stopping.addEventListener('abort', end, { once: true })
    const timer = later(end, attemptMs)
    try {
      const { url } = endpoint
      return outcomeOf(await send({ url, headers, body: message.body, signal: ending.signal }), now())
    } catch (error) {
      if (stopping.aborted) return released
      if (!ending.signal.aborted) return failureOf(error)
      return { ...failureOf(error), result: `No response within ${attemptMs / 1000} s` }
    } finally {
      timer.clear()
      stopping.removeEventListener('abort', end)
    }
  }
}
