import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type Endpoint, endpoints, type NewEndpoint } from '../../contract/endpoints.ts'
import { type Message, messages } from '../../contract/messages.ts'
import { Card } from '../../report/elements.tsx'
import type { Reply } from '../http/reply.ts'
import type { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest, write, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { endpointForm, kindWords } from './endpoint-form.tsx'
import { confirmationPage, faultList, postForm, secretPage } from './form.tsx'
import { addressOf, framePage, goTo } from './frame.tsx'
import { type List, listCard, listPage } from './list.tsx'
import { filterForm, pageQueryOf } from './list-parameters.tsx'
import { messageColumns, statusField } from './messages.tsx'
import { bodyIn, filledInWith, recordForm } from './record-form.tsx'
import { Day, detailsCard, Minute, none, recordLink, stateTag } from './values.tsx'

const [section, path] = ['/dashboard/integrations', '/dashboard/endpoints'] as const

/** For admins. */
const list = listPage<Endpoint>({
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
        cell: ({ id, url }, signedIn) => recordLink(signedIn, 'endpoints', id, lineOf(url, 120)),
      },
      { name: 'Kind', cell: ({ kind }) => kindWords[kind] },
      { name: 'Events', look: 'broad', cell: ({ events }) => eventNames(events) },
      {
        name: 'Description',
        look: 'broad',
        cell: ({ description }) => (description === '' ? none : lineOf(description)),
      },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      { name: 'State', cell: endpointState },
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
      return secretOf(inside, await ask(inside, endpoints.create, { body }), 'Your new endpoint')
    },
  },
})

const page: DashboardPage = {
  path: `${path}/:endpointId`,
  show: (signedIn) => showEndpoint(signedIn),
  again: showEndpoint,

  async act(signedIn, form) {
    const action = form.get('action')
    if (action === 'test') await write(signedIn, endpoints.test)
    else if (action === 'enable' || action === 'disable') {
      await write(signedIn, endpoints.update, {
        body: { status: action === 'enable' ? 'active' : 'disabled' },
      })
    } else {
      await writeFor(signedIn, async (inside) => {
        const { kind } = await ask(inside, endpoints.get)
        await ask(inside, endpoints.update, { body: bodyIn(endpointForm(kind), form) })
      })
    }
    const note = action === 'test' ? 'endpoint_tested' : 'endpoint_updated'
    return goTo(signedIn, pathOf(signedIn), note)
  },
}

const rotation = confirmationPage({
  path: `${path}/:endpointId/rotate`,
  section,
  operation: endpoints.rotate,
  find: (signedIn) => ask(signedIn, endpoints.get),
  title: () => 'Rotate the signing secret?',
  question: ({ url }) => (
    <>
      Messages to <strong>{lineOf(url, 200)}</strong> are signed with both secrets for 24 hours, then with the
      new one alone.
    </>
  ),
  button: 'Rotate secret',
  cancel: pathOf,
  shown: async (inside) => secretOf(inside, await ask(inside, endpoints.rotate), 'Your new secret'),
  done: 'endpoint_rotated_before',
})

const deletion = confirmationPage({
  path: `${path}/:endpointId/delete`,
  section,
  operation: endpoints.delete,
  find: (signedIn) => ask(signedIn, endpoints.get),
  title: () => 'Delete this endpoint?',
  question: ({ url }) => (
    <>
      No more events are sent to <strong>{lineOf(url, 200)}</strong>, and its messages are deleted. This
      cannot be undone.
    </>
  ),
  button: 'Delete endpoint',
  cancel: pathOf,
  next: path,
  done: 'endpoint_deleted',
})

export const endpointPages = [...list, page, rotation, deletion]

function pathOf({ params }: SignedInRequest): `/dashboard/endpoints/${string}` {
  return `${path}/${encodeURIComponent(params['endpointId'] ?? '')}`
}

const messageList: List<Message> = {
  id: 'messages',
  title: 'Messages',
  caption: 'Messages, newest first',
  columns: messageColumns,
}

async function showEndpoint(
  signedIn: SignedInRequest,
  fault?: ProblemError,
  form?: URLSearchParams,
): Promise<Reply> {
  const { query, base } = signedIn
  const endpoint = await ask(signedIn, endpoints.get)
  const status = query.get('status') || undefined
  const sent = await ask(signedIn, messages.list, {
    query: { ...pageQueryOf(signedIn), endpoint_id: endpoint.id, status },
  })
  const edited = form?.get('action') === 'save' ? form : undefined
  const editing = endpointForm(endpoint.kind)
  return framePage(
    signedIn,
    {
      title: 'Webhook endpoint',
      section,
      fault,
      back: [base + path, 'Webhook endpoints'],
      heading: lineOf(endpoint.url, 200),
    },
    edited ? null : faultList(fault),
    detailsCard(factsOf(endpoint)),
    actionsOf(signedIn, endpoint),
    listCard(signedIn, messageList, sent, {
      above: filterForm(signedIn, 'Filter messages', [statusField], 'messages'),
      none: status ? 'No messages match.' : 'No messages yet. Send a test event.',
    }),
    <Card id="edit" title="Edit the endpoint" isShort>
      {recordForm(signedIn, editing, {
        form: edited ?? filledInWith(editing, endpoint),
        fault: edited && fault,
      })}
    </Card>,
  )
}

/** The form below has what it sends. */
function factsOf(endpoint: Endpoint) {
  const { kind, chat, description, events, pausedUntil, previousSecretUntil, expiresAt } = endpoint
  return [
    ['State', endpointState(endpoint)],
    ['Kind', kindWords[kind]],
    ['Paused until', pausedUntil && <Minute time={pausedUntil} />],
    ['Events', chat?.schedule !== 'daily' && eventNames(events)],
    ['Description', description !== '' && lineOf(description)],
    ['Previous secret valid until', previousSecretUntil && <Minute time={previousSecretUntil} />],
    ['Expires', expiresAt && <Minute time={expiresAt} />],
    ['Created', <Day time={endpoint.createdAt} />],
    ['ID', <code>{endpoint.id}</code>],
  ] as const
}

function actionsOf(signedIn: SignedInRequest, { status, kind }: Endpoint): Child {
  const here = addressOf(signedIn, pathOf(signedIn))
  const isActive = status === 'active'
  return postForm(
    signedIn,
    'What to do with the endpoint',
    <div class="actions row">
      {isActive ? (
        <button type="submit" name="action" value="test">
          Send a test event
        </button>
      ) : null}
      <button type="submit" class="quiet" name="action" value={isActive ? 'disable' : 'enable'}>
        {isActive ? 'Disable' : 'Enable'}
      </button>
      {kind === 'standard' ? (
        <a class="button" href={`${here}/rotate`}>
          Rotate secret
        </a>
      ) : null}
      <a class="button" href={`${here}/delete`}>
        Delete
      </a>
    </div>,
  )
}

function secretOf(
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
        ['Events', eventNames(events)],
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

function eventNames(events: readonly string[]): Child {
  return events.includes('*') ? 'All events' : <code>{events.join(' ')}</code>
}

function endpointState({ status, disabledReason, pausedUntil }: Endpoint): Child {
  return (
    <>
      {stateTag(status === 'active' && pausedUntil !== null ? 'paused' : status)}
      {disabledReason === 'gone' ? <small>The receiver returned 410 Gone</small> : null}
    </>
  )
}
