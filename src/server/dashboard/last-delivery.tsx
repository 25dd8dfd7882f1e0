import { type Delivery, deliveries } from '../../contract/deliveries.ts'
import type { LmsKind } from '../../contract/integration-choices.ts'
import { deliveryRoutes } from '../webhooks/inbox/deliveries.ts'
import { DeliveryState } from './delivery-state.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { Minute } from './value-text.tsx'

/** The delivery of a system that came last; undefined before the first one. */
export async function lastDelivery(signedIn: SignedInRequest, kind: LmsKind): Promise<Delivery | undefined> {
  const { data } = await ask(signedIn, deliveryRoutes, deliveries.list, {
    query: { lms_kind: kind, limit: '1' },
  })
  return data[0]
}

/** When a delivery came, with the way to it, and what became of it. */
export function LastDelivery({ base, delivery }: { base: string; delivery: Delivery | undefined }) {
  if (!delivery) return <span class="none">–</span>
  return (
    <>
      <a href={`${base}/dashboard/deliveries/${encodeURIComponent(delivery.id)}`}>
        <Minute time={delivery.receivedAt} />
      </a>{' '}
      <DeliveryState delivery={delivery} />
    </>
  )
}
