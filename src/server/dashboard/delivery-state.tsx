import type { Delivery } from '../../contract/deliveries.ts'
import type { IgnoredReason } from '../../webhooks/event.ts'
import { shown } from './value-text.tsx'

/** Why nothing was done, in words, where the code does not say it. */
const reasonWords: Readonly<Record<IgnoredReason, string>> & Readonly<Record<string, string>> = {
  event_type: 'Not a grade or progress event',
  context: 'Not about a course',
  anonymous: 'Names no learner',
  no_score: 'Has no score',
  no_maximum: 'Maximum score not known',
  no_requirements: 'Course has no completion requirements',
  score_out_of_range: 'Score out of range',
  stale_grade: 'A newer grade is recorded',
  stale_progress: 'Newer progress is recorded',
  in_future: 'Its time is in the future',
  user_inactive: 'Learner is not active',
  not_configured: 'System not connected',
}

/** What became of a delivery, and why. */
export function DeliveryState({ delivery }: { delivery: Delivery }) {
  const why = reasonOf(delivery)
  return (
    <>
      <span class={`state ${delivery.status}`}>{delivery.status}</span>
      {why === null ? null : <small>{shown(why, 80)}</small>}
    </>
  )
}

function reasonOf({ reason, missing }: Delivery): string | null {
  if (missing.includes('enrollment')) return 'Not enrolled'
  if (missing.length > 0 && reason !== 'user_inactive') return `Not found: ${missing.join(', ')}`
  if (reason === null) return null
  return Object.hasOwn(reasonWords, reason)
    ? (reasonWords[reason] ?? reason)
    : `${reason[0]?.toUpperCase()}${reason.slice(1).replaceAll('_', ' ')}`
}
