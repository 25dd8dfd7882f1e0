import { lineOf } from '../../codec/display-text.ts'
import { type Endpoint, endpoints } from '../../contract/endpoints.ts'
import { type Message, messages } from '../../contract/messages.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import type { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest, write, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { EndpointForm, endpointInputOf, filledInWith, kindWords } from './endpoint-form.tsx'
import { chatText, EndpointState, EventNames, secretPage, xapiText } from './endpoints.tsx'
import { askToConfirm, Faults, Form, submitOnce } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { type List, ListCard, StatusFilter } from './list.tsx'
import { messageColumns, messageStatuses } from './messages.tsx'
import { noneText, pageQueryOf } from './paging.tsx'
import { Day, Facts, Minute } from './values.tsx'

const [section, list] = ['/dashboard/integrations', '/dashboard/endpoints'] as const

export const endpointPage: DashboardPage = {
  path: '/dashboard/endpoints/:endpointId',
  show: (signedIn) => showEndpoint(signedIn),
  again: showEndpoint,

  async act(signedIn, form) {
    const note = await writeFor(signedIn, async (inside) => {
      switch (form.get('action')) {
        case 'test':
          await ask(inside, endpoints.test)
          return 'endpoint_tested'
        case 'enable':
        case 'disable': {
          const status = form.get('action') === 'enable' ? 'active' : 'disabled'
          await ask(inside, endpoints.update, { body: { status } })
          return 'endpoint_updated'
        }
        default: {
          const { kind } = await ask(inside, endpoints.get)
          await ask(inside, endpoints.update, { body: endpointInputOf(form, kind) })
          return 'endpoint_updated'
        }
      }
    })
    return seeOther(addressOf(signedIn, pathOf(signedIn), note))
  },
}

/** Shows the new secret. */
export const endpointRotation: DashboardPage = {
  path: '/dashboard/endpoints/:endpointId/rotate',

  async show(signedIn) {
    requireRight(signedIn.principal, endpoints.rotate)
    const { url } = await ask(signedIn, endpoints.get)
    return askToConfirm(
      signedIn,
      {
        title: 'Rotate the signing secret?',
        section,
        button: 'Rotate secret',
        cancel: pathOf(signedIn),
        once: true,
      },
      <p>
        Messages to <strong>{lineOf(url, 200)}</strong> are signed with both secrets for 24 hours, then with
        the new one alone.
      </p>,
    )
  },

  act: (signedIn, form) =>
    submitOnce(
      signedIn,
      form,
      addressOf(signedIn, pathOf(signedIn), 'endpoint_rotated_before'),
      async (inside) => secretPage(inside, await ask(inside, endpoints.rotate), 'Your new secret'),
    ),
}

export const endpointDeletion: DashboardPage = {
  path: '/dashboard/endpoints/:endpointId/delete',

  async show(signedIn) {
    requireRight(signedIn.principal, endpoints.delete)
    const { url } = await ask(signedIn, endpoints.get)
    return askToConfirm(
      signedIn,
      { title: 'Delete this endpoint?', section, button: 'Delete endpoint', cancel: pathOf(signedIn) },
      <p>
        No more events are sent to <strong>{lineOf(url, 200)}</strong>, and its messages are deleted. This
        cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    await write(signedIn, endpoints.delete)
    return seeOther(addressOf(signedIn, list, 'endpoint_deleted'))
  },
}

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
  const status = query.get('status') ?? undefined
  const sent = await ask(signedIn, messages.list, {
    query: { ...pageQueryOf(signedIn), endpoint_id: endpoint.id, status },
  })
  const isEdited = form?.get('action') === 'save'
  return framePage(
    signedIn,
    { title: fault ? 'Error: webhook endpoint' : 'Webhook endpoint', section, fault },
    <>
      <p class="back">
        <a href={`${base}${list}`}>Webhook endpoints</a>
      </p>
      <h1>{lineOf(endpoint.url, 200)}</h1>
      {fault && !isEdited ? <Faults fault={fault} labels={{}} /> : null}
      <Details base={base} endpoint={endpoint} />
      <Actions signedIn={signedIn} endpoint={endpoint} />
      <ListCard
        signedIn={signedIn}
        list={messageList}
        listed={sent}
        above={
          <StatusFilter
            label="Messages by status"
            here={`${base}${pathOf(signedIn)}`}
            choices={messageStatuses}
            chosen={status}
            anchor="messages"
          />
        }
        none={
          <p>
            {status ? noneText(sent.nextCursor, 'No messages match.') : 'No messages yet. Send a test event.'}
          </p>
        }
      />
      <section class="card short" aria-labelledby="edit">
        <h2 id="edit">Edit the endpoint</h2>
        <EndpointForm
          label="Save changes"
          kind={endpoint.kind}
          signedIn={signedIn}
          form={isEdited && form ? form : filledInWith(endpoint)}
          fault={isEdited ? fault : undefined}
        />
      </section>
    </>,
  )
}

function CourseLinks({ base, ids }: { base: string; ids: readonly string[] }) {
  return (
    <ul class="plain">
      {ids.map((id) => (
        <li>
          <a href={`${base}/dashboard/courses/${encodeURIComponent(id)}`}>{id}</a>
        </li>
      ))}
    </ul>
  )
}

function Details({ base, endpoint }: { base: string; endpoint: Endpoint }) {
  const {
    kind,
    chat,
    xapi,
    description,
    events,
    pausedUntil,
    previousSecretUntil,
    expiresAt,
    createdAt,
    id,
  } = endpoint
  const facts = [
    ['State', <EndpointState endpoint={endpoint} />],
    ['Kind', kindWords[kind]],
    ...(chat === null ? [] : [['Messages', chatText(chat)] as const]),
    ...(chat === null || chat.courseIds.length === 0
      ? []
      : [['Courses', <CourseLinks base={base} ids={chat.courseIds} />] as const]),
    ...(xapi === null ? [] : [['Statements', xapiText(xapi)] as const]),
    ...(pausedUntil === null ? [] : [['Paused until', <Minute time={pausedUntil} />] as const]),
    ...(chat?.schedule === 'daily' ? [] : [['Events', <EventNames events={events} />] as const]),
    ...(description === '' ? [] : [['Description', lineOf(description)] as const]),
    ...(previousSecretUntil === null
      ? []
      : [['Previous secret valid until', <Minute time={previousSecretUntil} />] as const]),
    ...(expiresAt === null ? [] : [['Expires', <Minute time={expiresAt} />] as const]),
    ['Created', <Day time={createdAt} />],
    ['ID', <code>{id}</code>],
  ] as const
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">Details</h2>
      <Facts facts={facts} />
    </section>
  )
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
