import { isJsonObject } from '../../codec/json-object.ts'
import { parseJsonOrNull } from '../../codec/json-text.ts'

/** The answer to one delivery. */
export interface DeliveryAnswer {
  /** Its number, from 1. */
  readonly delivery: number
  readonly status: number
  readonly outcome: string
  readonly deliveryId: string | null
  /** Why: what is missing, the reason, or the problem's code. */
  readonly reason: string | null
  readonly durationMs: number
}

/** What an answer of a platform says. A platform of another style may say nothing but its status. */
export function answerIn(
  status: number,
  text: string,
): Pick<DeliveryAnswer, 'outcome' | 'deliveryId' | 'reason'> {
  const body = parseJsonOrNull(text)
  const told = isJsonObject(body) ? body : {}
  const text_ = (name: string) => (typeof told[name] === 'string' ? told[name] : null)
  const missing = Array.isArray(told['missing']) ? `${told['missing'].join(' and ')} not found` : null
  if (status >= 200 && status < 300) {
    return {
      outcome: text_('status') ?? 'accepted',
      deliveryId: text_('deliveryId'),
      reason: missing ?? text_('reason'),
    }
  }
  // Anything else, such as 404 or 429, does not say that a delivery was looked at and refused.
  const outcome = status === 401 || status === 403 ? 'refused' : 'failed'
  return { outcome, deliveryId: null, reason: text_('code') ?? text_('detail') }
}
