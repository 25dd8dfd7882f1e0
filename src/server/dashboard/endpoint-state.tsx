import type { Endpoint } from '../../contract/endpoints.ts'

/** What an endpoint subscribes to, in words where it is everything. */
export function EventNames({ events }: { events: readonly string[] }) {
  return events.includes('*') ? <>All events</> : <code>{events.join(' ')}</code>
}

/** Whether events are sent to an endpoint, and why not. */
export function EndpointState({ endpoint: { status, disabledReason, pausedUntil } }: { endpoint: Endpoint }) {
  const state = status === 'active' && pausedUntil !== null ? 'paused' : status
  return (
    <>
      <span class={`state ${state}`}>{state}</span>
      {disabledReason === 'gone' ? <small>The receiver returned 410 Gone</small> : null}
    </>
  )
}
