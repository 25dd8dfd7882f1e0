import { randomBytes } from 'node:crypto'

/** Instructions for each system to send its grades: one sentence, without a full stop. */
const steps: Readonly<Record<string, string>> = {
  canvas:
    'In Canvas, under Admin > Data Services, add a subscription with this URL, the method HTTPS and “Sign Payload”, for grade_change, course_grade_change, course_progress and course_completed',
  moodle:
    'In Moodle, under Site administration > Server > Webhooks (plugin local_webhooks), add a service with this URL, the webhook secret as its token, the format JSON, and the events user_graded and course_completed',
  openedx:
    'In the Open edX admin, under Openedx Webhooks, add a webhook with this URL for the event org.openedx.learning.course.persistent_grade_summary.changed.v1',
  thinkific:
    'In Thinkific, create a webhook with this URL for the topics enrollment.progress and enrollment.completed; the webhook secret is the API key of the site, or the client secret of the app',
  standard:
    'Send grade.updated events to this URL, signed with the webhook secret as Standard Webhooks 1.0.0 says',
}

/** Returns the instructions for a system; undefined if it is unknown. */
export function setUpOf(kind: string): string | undefined {
  return Object.hasOwn(steps, kind) ? steps[kind] : undefined
}

/** Returns the path and query that a system sends its events to, below the URL of the server. */
export function webhookTarget(kind: string): string {
  // Open edX does not sign deliveries, so its secret is in the URL.
  return `/webhooks/${kind}/grades${kind === 'openedx' ? '?token=<webhook secret>' : ''}`
}

const secretBytes = 24

/**
 * Returns a new secret of Standard Webhooks with letters and digits only, so that it can be part of a URL.
 */
export function newWebhookSecret(): string {
  for (;;) {
    const text = randomBytes(secretBytes).toString('base64')
    if (!/[+/]/.test(text)) return `whsec_${text}`
  }
}
