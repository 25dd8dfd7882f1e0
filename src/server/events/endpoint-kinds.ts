import type { EndpointKind } from '../../contract/endpoints.ts'
import { standardSignatureOf } from '../../lms/standard.ts'
import { type Claimed, type Delivery, type EndpointDelivery, outcomeOf } from './delivery.ts'
import { partsOfSecret, withQuery } from './endpoint-row.ts'
import { slackDelivery } from './slack-endpoint.ts'
import { teamsDelivery } from './teams-endpoint.ts'
import { xapiDelivery } from './xapi-endpoint.ts'

/** Standard Webhooks 1.0.0: one signed request for each message. */
const standardDelivery: EndpointDelivery = {
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

const deliveries: Readonly<Record<EndpointKind, EndpointDelivery>> = {
  standard: standardDelivery,
  slack: slackDelivery,
  teams: teamsDelivery,
  xapi: xapiDelivery,
}

export function deliveryOf({ kind }: { readonly kind: string }): EndpointDelivery {
  // The contract validated the kind before it was stored.
  return deliveries[kind as EndpointKind]
}
