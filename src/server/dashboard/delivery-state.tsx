import type { Delivery } from '../../contract/deliveries.ts'
import { shown } from './value-text.tsx'

/** What became of a delivery, and why. */
export function DeliveryState({ delivery: { status, reason, missing } }: { delivery: Delivery }) {
  return (
    <>
      <span class={`state ${status}`}>{status}</span>
      {missing.length > 0 ? (
        <small>{missing.includes('enrollment') ? 'Not enrolled' : `Not found: ${missing.join(', ')}`}</small>
      ) : reason === null ? null : (
        <small>{shown(reason.replaceAll('_', ' '), 80)}</small>
      )}
    </>
  )
}
