import { standardSignature } from '../../../webhooks/standard-signature.ts'
import { cachedOpening, type Sealing } from '../../sealing/sealing.ts'
import type { Claimed } from './claim.ts'
import { type EndpointRow, secretPlace } from './endpoint-row.ts'
import { failureOf, type Outcome, outcomeOf } from './outcome.ts'
import type { Send } from './send.ts'

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
/** Delay of a message whose secret cannot be decrypted. */
const unsignedMs = 60_000

const released: Outcome = { kind: 'released', status: null, result: '', response: '', pauseMs: 0 }

/** Creates a function that makes attempts, each signed anew; it never throws. */
export function attemptsWith({ send, sealing, now, signedAt, later, stopping }: AttemptParts) {
  const { open } = cachedOpening(sealing, now)

  /** Signs with all valid secrets (Standard Webhooks 1.0.0, Signature scheme). */
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
