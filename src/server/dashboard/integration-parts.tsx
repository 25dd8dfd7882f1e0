import { Parts } from './parts.tsx'
import type { SignedInRequest } from './signed-in-request.ts'

const parts = [
  ['/dashboard/integrations', 'Connections'],
  ['/dashboard/deliveries', 'Deliveries'],
  ['/dashboard/endpoints', 'Webhook endpoints'],
  ['/dashboard/messages', 'Messages'],
] as const

/** The name of one of these pages. */
export type IntegrationPart = (typeof parts)[number][1]

/** The ways between what connects an academy with other systems: what comes in, and what goes out. */
export function IntegrationParts({
  signedIn: { base },
  shown,
}: {
  signedIn: SignedInRequest
  shown: IntegrationPart
}) {
  return (
    <Parts
      label="Integrations"
      shown={shown}
      parts={parts.map(([path, name]) => [base + path, name] as const)}
    />
  )
}
