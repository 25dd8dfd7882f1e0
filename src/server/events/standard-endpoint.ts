import { standardSignatureOf } from '../../lms/standard.ts'
import type { Claimed } from './claim.ts'
import type { Delivery, EndpointDelivery } from './endpoint-kind.ts'
import { partsOfSecret } from './endpoint-row.ts'
import { withQuery } from './hidden-url.ts'
import { outcomeOf } from './outcome.ts'

/** Standard Webhooks 1.0.0: one signed request for each message. */
export const standardDelivery: EndpointDelivery = {
  maxMessages: 1,
  maxConcurrent: 8,
  intervalMs: 0,

  async deliver(messages, delivery) {
    const { endpoint, open } = delivery
    const url = withQuery(endpoint.url, partsOfSecret(open(endpoint.secret)).query)
    const outcomes = []
    for (const message of messages) {
      const headers = signed(message, delivery)
      const received = await delivery.post({ url, headers, body: message.body })
      outcomes.push(outcomeOf(received, delivery.now))
    }
    return outcomes
  },
}

/** With all valid secrets (Standard Webhooks 1.0.0, Signature scheme). */
function signed({ id, body }: Claimed, { endpoint, now, signedAt, open }: Delivery): Record<string, string> {
  const seconds = Math.floor(signedAt.getTime() / 1000)
  const { secret, previous_secret: previous, previous_secret_until: until } = endpoint
  const counts = previous !== null && until !== null && until > now.toISOString()
  const signatures = [secret, ...(counts ? [previous] : [])].map((text) =>
    standardSignatureOf(partsOfSecret(open(text)).signing, { id, seconds, body }),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}
