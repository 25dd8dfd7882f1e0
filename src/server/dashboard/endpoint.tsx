import { lineOf } from '../../codec/display-text.ts'
import { type Endpoint, endpoints } from '../../contract/endpoints.ts'
import { type Message, messages } from '../../contract/messages.ts'
import { Card } from '../../report/elements.tsx'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import type { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest, write, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { endpointForm, kindWords } from './endpoint-form.tsx'
import { EndpointState, EventNames, endpointSecretPage } from './endpoints.tsx'
import { FilterForm } from './filter-form.tsx'
import { confirmationPage, Faults, Form } from './form.tsx'
import { addressOf, Back, framePage } from './frame.tsx'
import { type List, ListCard } from './list.tsx'
import { messageColumns, statusField } from './messages.tsx'
import { pageQueryOf } from './paging.tsx'
import { bodyIn, filledInWith, RecordFields } from './record-form.tsx'
import { Day, Details, Minute } from './values.tsx'

const [section, list] = ['/dashboard/integrations', '/dashboard/endpoints'] as const

const page: DashboardPage = {
  path: `${list}/:endpointId`,
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
    return seeOther(addressOf(signedIn, pathOf(signedIn), note))
  },
}

const rotation = confirmationPage({
  path: `${list}/:endpointId/rotate`,
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
  shown: async (inside) => endpointSecretPage(inside, await ask(inside, endpoints.rotate), 'Your new secret'),
  done: 'endpoint_rotated_before',
})

const deletion = confirmationPage({
  path: `${list}/:endpointId/delete`,
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
  next: list,
  done: 'endpoint_deleted',
})

export const endpointPages = [page, rotation, deletion]

function pathOf({ params }: SignedInRequest): `/dashboard/endpoints/${string}` {
  return `${list}/${encodeURIComponent(params['endpointId'] ?? '')}`
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
    { title: 'Webhook endpoint', section, fault },
    <>
      <Back to={`${base}${list}`}>Webhook endpoints</Back>
      <h1>{lineOf(endpoint.url, 200)}</h1>
      {edited ? null : <Faults fault={fault} />}
      <Details facts={factsOf(endpoint)} />
      <Actions signedIn={signedIn} endpoint={endpoint} />
      <ListCard
        signedIn={signedIn}
        list={messageList}
        listed={sent}
        above={
          <FilterForm signedIn={signedIn} label="Filter messages" fields={[statusField]} anchor="messages" />
        }
        none={status ? 'No messages match.' : 'No messages yet. Send a test event.'}
      />
      <Card id="edit" title="Edit the endpoint" isShort>
        <RecordFields
          signedIn={signedIn}
          of={editing}
          form={edited ?? filledInWith(editing, endpoint)}
          fault={edited && fault}
        />
      </Card>
    </>,
  )
}

/** The form below has what it sends. */
function factsOf(endpoint: Endpoint) {
  const { kind, chat, description, events, pausedUntil, previousSecretUntil, expiresAt } = endpoint
  return [
    ['State', <EndpointState endpoint={endpoint} />],
    ['Kind', kindWords[kind]],
    ['Paused until', pausedUntil && <Minute time={pausedUntil} />],
    ['Events', chat?.schedule !== 'daily' && <EventNames events={events} />],
    ['Description', description !== '' && lineOf(description)],
    ['Previous secret valid until', previousSecretUntil && <Minute time={previousSecretUntil} />],
    ['Expires', expiresAt && <Minute time={expiresAt} />],
    ['Created', <Day time={endpoint.createdAt} />],
    ['ID', <code>{endpoint.id}</code>],
  ] as const
}

function Actions({ signedIn, endpoint }: { signedIn: SignedInRequest; endpoint: Endpoint }) {
  const here = addressOf(signedIn, pathOf(signedIn))
  const isActive = endpoint.status === 'active'
  return (
    <Form signedIn={signedIn} label="What to do with the endpoint">
      <div class="actions row">
        {isActive ? (
          <button type="submit" name="action" value="test">
            Send a test event
          </button>
        ) : null}
        <button type="submit" class="quiet" name="action" value={isActive ? 'disable' : 'enable'}>
          {isActive ? 'Disable' : 'Enable'}
        </button>
        {endpoint.kind === 'standard' ? (
          <a class="button" href={`${here}/rotate`}>
            Rotate secret
          </a>
        ) : null}
        <a class="button" href={`${here}/delete`}>
          Delete
        </a>
      </div>
    </Form>
  )
}
