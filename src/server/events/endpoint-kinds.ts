import type { EndpointKind } from '../../contract/endpoints.ts'
import type { EndpointDelivery } from './endpoint-kind.ts'
import { slackDelivery } from './slack-endpoint.ts'
import { standardDelivery } from './standard-endpoint.ts'
import { teamsDelivery } from './teams-endpoint.ts'
import { xapiDelivery } from './xapi-endpoint.ts'

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
