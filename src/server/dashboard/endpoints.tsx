import { lineOf } from '../../codec/display-text.ts'
import type { ChatSettings } from '../../contract/chat.ts'
import { type Endpoint, endpoints, type NewEndpoint } from '../../contract/endpoints.ts'
import type { XapiSettings } from '../../contract/statements.ts'
import type { Reply } from '../http/reply.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { EndpointForm, endpointInputOf, kindWords } from './endpoint-form.tsx'
import { submitOnce } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { listPage } from './list.tsx'
import { type PageQuery, pageQueryOf } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { Day } from './values.tsx'

const path = '/dashboard/endpoints'

/** Without the secrets. */
export const endpointsFile: TableFile = { path: path, operation: endpoints.list, read: readEndpoints }

/** For admins. */
export const endpointsPage = listPage<Endpoint>({
  path,
  section: '/dashboard/integrations',
  title: 'Webhook endpoints',
  tab: 'Webhook endpoints',
  intro:
    'The server sends events to each endpoint as signed HTTP requests (Standard Webhooks), or as messages into a channel, and retries those that fail.',
  list: {
    id: 'endpoints',
    title: 'Endpoints',
    caption: 'Endpoints, newest first',
    columns: [
      {
        name: 'URL',
        look: 'broad',
        cell: ({ id, url }, { base }) => (
          <a href={`${base}${path}/${encodeURIComponent(id)}`}>{lineOf(url, 120)}</a>
        ),
      },
      { name: 'Kind', cell: ({ kind }) => kindWords[kind] },
      { name: 'Events', look: 'broad', cell: ({ events }) => <EventNames events={events} /> },
      {
        name: 'Description',
        look: 'broad',
        cell: ({ description }) => (description === '' ? <span class="none">–</span> : lineOf(description)),
      },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      { name: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
    ],
  },
  read: (signedIn) => readEndpoints(signedIn, pageQueryOf(signedIn)),
  file: endpointsFile,
  none: () => <p>No endpoints yet. Create one below, then send it a test event.</p>,
  form: {
    title: 'Create an endpoint',
    initial: 'events=*&kind=standard',
    Fields: (filledIn) => <EndpointForm label="Create endpoint" kind={undefined} {...filledIn} />,
  },

  act: (signedIn, form) =>
    submitOnce(signedIn, form, addressOf(signedIn, path, 'endpoint_made_before'), async (inside) =>
      secretPage(
        inside,
        await ask(inside, endpoints.create, {
          body: { kind: newKindOf(form), ...endpointInputOf(form, newKindOf(form)) },
        }),
        'Your new endpoint',
      ),
    ),
})

function readEndpoints(signedIn: SignedInRequest, page: PageQuery) {
  return ask(signedIn, endpoints.list, { query: page })
}

function newKindOf(form: URLSearchParams): string {
  return form.get('kind') ?? 'standard'
}

/** What an endpoint writes into its channel, and when, in words. */
export function chatText({
  schedule,
  digestHour,
  digestTimezone,
  courseIds,
  atRiskOnly,
  learnerNames,
}: ChatSettings): string {
  const digest = `${atRiskOnly ? 'learners at risk' : 'digest'}, daily at ${digestHour}:00 (${digestTimezone})`
  return [
    schedule === 'daily' ? digest : 'when something happens',
    courseIds.length === 0
      ? 'all courses'
      : courseIds.length === 1
        ? '1 course'
        : `${courseIds.length} courses`,
    learnerNames ? 'with names of learners' : 'without names of learners',
  ].join('; ')
}

/** What the statements of an endpoint look like, and how it signs in, in words. */
export function xapiText({ xapiVersion, actor, homePage, username, tokenUrl }: XapiSettings): string {
  const signIn = tokenUrl !== null ? 'OAuth 2.0' : username !== null ? 'Basic authentication' : 'no sign-in'
  const names = { id: 'id', 'external-id': 'external id', email: 'e-mail address' }
  return `xAPI ${xapiVersion}; learners by ${names[actor]}; ${lineOf(homePage, 200)}; ${signIn}`
}

/** The only page that shows the signing secret. */
export function secretPage(
  signedIn: SignedInRequest,
  { id, kind, url, events, secret, previousSecretUntil }: NewEndpoint,
  title: string,
): Reply {
  return framePage(
    signedIn,
    { title, section: '/dashboard/integrations' },
    <div class="card short">
      <h1>{title}</h1>
      {secret === null ? (
        <p role="status">
          {kind === 'xapi'
            ? 'The password is stored encrypted. Send a test event, which checks the record store.'
            : 'The URL is stored encrypted. Send a test event, and look in the channel.'}
        </p>
      ) : (
        <>
          <p role="status">Copy the signing secret now. It will not be shown again.</p>
          <code class="code secret">{secret}</code>
          <p>The receiver verifies with it that a request comes from this server.</p>
        </>
      )}
      <dl class="facts">
        <dt>URL</dt>
        <dd>{lineOf(url, 2000)}</dd>
        <dt>Events</dt>
        <dd>
          <EventNames events={events} />
        </dd>
        {previousSecretUntil === null ? null : (
          <>
            <dt>Previous secret</dt>
            <dd>{`Signs until ${previousSecretUntil.slice(0, 16).replace('T', ' ')} UTC, too`}</dd>
          </>
        )}
      </dl>
      <p class="actions">
        <a class="button" href={addressOf(signedIn, `/dashboard/endpoints/${encodeURIComponent(id)}`)}>
          Done
        </a>
      </p>
    </div>,
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
