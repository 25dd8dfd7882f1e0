import { lineOf } from '../../codec/display-text.ts'
import { type Endpoint, endpoints, type NewEndpoint } from '../../contract/endpoints.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { endpointForm, kindWords } from './endpoint-form.tsx'
import { secretPage } from './form.tsx'
import { listPage } from './list.tsx'
import { bodyIn } from './record-form.tsx'
import { Day, none, recordUrl } from './values.tsx'

const [section, path] = ['/dashboard/integrations', '/dashboard/endpoints'] as const

/** For admins. */
export const endpointsPages = listPage<Endpoint>({
  path,
  section,
  title: 'Webhook endpoints',
  tab: 'Webhook endpoints',
  intro:
    'The server sends events to each endpoint as signed HTTP requests (Standard Webhooks), or as messages into a channel, and retries those that fail.',
  operation: endpoints.list,
  list: {
    id: 'endpoints',
    title: 'Endpoints',
    caption: 'Endpoints, newest first',
    columns: [
      {
        name: 'URL',
        look: 'broad',
        cell: ({ id, url }, signedIn) => (
          <a href={recordUrl(signedIn, 'endpoints', id)}>{lineOf(url, 120)}</a>
        ),
      },
      { name: 'Kind', cell: ({ kind }) => kindWords[kind] },
      { name: 'Events', look: 'broad', cell: ({ events }) => <EventNames events={events} /> },
      {
        name: 'Description',
        look: 'broad',
        cell: ({ description }) => (description === '' ? none : lineOf(description)),
      },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      { name: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
    ],
  },
  none: 'No endpoints yet. Create one below, then send it a test event.',
  create: {
    title: 'Create an endpoint',
    form: endpointForm(),
    again: 'endpoint_made_before',
    submit: async (inside, form) => {
      const kind = form.get('kind') ?? 'standard'
      const body = { kind, ...bodyIn(endpointForm(kind), form) }
      return endpointSecretPage(inside, await ask(inside, endpoints.create, { body }), 'Your new endpoint')
    },
  },
})

export function endpointSecretPage(
  signedIn: SignedInRequest,
  { id, kind, url, events, secret, previousSecretUntil }: NewEndpoint,
  title: string,
) {
  const stored =
    kind === 'xapi'
      ? 'The password is stored encrypted. Send a test event, which checks the record store.'
      : 'The URL is stored encrypted. Send a test event, and look in the channel.'
  return secretPage(
    signedIn,
    {
      title,
      section,
      name: 'signing secret',
      secret,
      facts: [
        ['URL', lineOf(url, 2000)],
        ['Events', <EventNames events={events} />],
        [
          'Previous secret',
          previousSecretUntil && `Signs until ${previousSecretUntil.slice(0, 16).replace('T', ' ')} UTC, too`,
        ],
      ],
      next: `${path}/${encodeURIComponent(id)}`,
    },
    secret === null ? (
      <p role="status">{stored}</p>
    ) : (
      <p>The receiver verifies with it that a request comes from this server.</p>
    ),
  )
}

export function EventNames({ events }: { events: readonly string[] }) {
  return events.includes('*') ? <>All events</> : <code>{events.join(' ')}</code>
}

export function EndpointState({ endpoint: { status, disabledReason, pausedUntil } }: { endpoint: Endpoint }) {
  const state = status === 'active' && pausedUntil !== null ? 'paused' : status
  return (
    <>
      <span class={`state ${state}`}>{state}</span>
      {disabledReason === 'gone' ? <small>The receiver returned 410 Gone</small> : null}
    </>
  )
}
