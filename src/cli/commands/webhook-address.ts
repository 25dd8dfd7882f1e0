import type { Context } from '../command/context.ts'

/** What to do in each system so that it sends its grades. */
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

/** Where the other system has to send its events, and how that is set up there. */
export async function webhookNotes(context: Context, kind: string): Promise<readonly string[]> {
  const base = await addressOf(context)
  const path = `/webhooks/${kind}/grades`
  // Open edX signs nothing: what it proves itself by is in the URL.
  const query = kind === 'openedx' ? '?token=<webhook secret>' : ''
  const address = base === null ? `<URL of your server>${path}${query}` : `${base}${path}${query}`
  const start = base === null ? ['Start the server with: learnctl server start'] : []
  return [`Webhook URL: ${address}`, ...(steps[kind] ? [steps[kind]] : []), ...start]
}

/** Where others reach the academy; null where nobody serves it. */
export async function addressOf({ session, directories }: Context): Promise<string | null> {
  const target = session.target()
  if (target.kind === 'remote') return target.url
  const { serverOf } = await import('../local-server/running-servers.ts')
  return (await serverOf(directories.state, target.database))?.url ?? null
}
