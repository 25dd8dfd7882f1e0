import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { messageTypes } from '../../contract/actions.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { type Attempt, type Message, messages } from '../../contract/messages.ts'
import { Card } from '../../report/elements.tsx'
import { maxEndpoints } from '../events/endpoints.ts'
import type { Reply } from '../http/reply.ts'
import type { ProblemError } from '../problem-error.ts'
import { ask, askOrNone, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { faultList, postForm } from './form.tsx'
import { framePage, goTo } from './frame.tsx'
import { type List, type ListColumn, listCard, listPage } from './list.tsx'
import { capitalizedChoices, type FilterField, filterIn } from './list-parameters.tsx'
import {
  detailsCard,
  document,
  formatCount,
  lineOrNone,
  Minute,
  none,
  recordLink,
  recordUrl,
  stateTag,
} from './values.tsx'

const [section, path] = ['/dashboard/integrations', '/dashboard/messages'] as const

export const statusField: FilterField = {
  name: 'status',
  label: 'State',
  choices: capitalizedChoices(['pending', 'delivered', 'failed']),
  all: 'Any state',
}

export const messageColumns: readonly ListColumn<Message>[] = [
  {
    name: 'Event',
    cell: ({ id, type }, signedIn) => recordLink(signedIn, 'messages', id, type),
  },
  { name: 'Happened', cell: ({ createdAt }) => <Minute time={createdAt} /> },
  { name: 'State', cell: messageState },
  { name: 'Attempts', look: 'figures', cell: ({ attemptCount }) => formatCount(attemptCount) },
  { name: 'Last result', cell: ({ lastResult }) => lineOrNone(lastResult, 120) },
]

/** The URL is undefined if the endpoint was deleted. */
type Sent = Message & { readonly endpointUrl: string | undefined }

const endpointColumn: ListColumn<Sent> = {
  name: 'Endpoint',
  look: 'broad',
  cell: ({ endpointId, endpointUrl }, signedIn) =>
    recordLink(signedIn, 'endpoints', endpointId, lineOf(endpointUrl ?? endpointId, 120)),
}

/** To all endpoints, for admins. */
const list = listPage<Sent, Message>({
  path,
  section,
  title: 'Messages',
  tab: 'Messages',
  intro: 'Events on their way to webhook endpoints. Those that fail are sent again for about three days.',
  operation: messages.list,
  query: ({ query }) => filterIn(query, { status: 'status', type: 'type' }),
  list: {
    id: 'messages',
    title: 'Messages',
    caption: 'Messages, newest first',
    columns: [...messageColumns.slice(0, 1), endpointColumn, ...messageColumns.slice(1)],
  },

  async rows(signedIn, items) {
    const urls = items.length > 0 ? await endpointUrls(signedIn) : undefined
    return items.map((each) => ({ ...each, endpointUrl: urls?.get(each.endpointId) }))
  },

  filter: {
    label: 'Filter messages',
    fields: () => [
      statusField,
      { name: 'type', label: 'Event', choices: messageTypes.map((type) => [type, type]), all: 'All events' },
    ],
  },

  none: ({ base }) => (
    <p>
      No messages yet. <a href={`${base}/dashboard/endpoints`}>Create an endpoint</a>, then send it a test
      event.
    </p>
  ),
  noMatch: 'No messages match.',
})

async function endpointUrls(signedIn: SignedInRequest): Promise<ReadonlyMap<string, string>> {
  const { data } = await ask(signedIn, endpoints.list, { query: { limit: String(maxEndpoints) } })
  return new Map(data.map(({ id, url }) => [id, url]))
}

function messageState({ status, nextAttemptAt, attemptCount }: Message): Child {
  return (
    <>
      {stateTag(status)}
      {nextAttemptAt === null || attemptCount === 0 ? null : (
        <small>
          Next attempt <Minute time={nextAttemptAt} />
        </small>
      )}
    </>
  )
}

const page: DashboardPage = {
  path: `${path}/:messageId`,
  show: (signedIn) => showMessage(signedIn),
  again: showMessage,

  async act(signedIn) {
    const { id } = await write(signedIn, messages.resend)
    return goTo(signedIn, `${path}/${encodeURIComponent(id)}`, 'message_resent')
  },
}

async function showMessage(signedIn: SignedInRequest, fault?: ProblemError): Promise<Reply> {
  const message = await ask(signedIn, messages.get)
  const { id, type, endpointId, status, subject, createdAt, nextAttemptAt, finishedAt } = message
  // It may have been deleted since.
  const endpoint = await askOrNone(signedIn, endpoints.get, { params: { endpointId } })
  const url = (maxLength: number) => lineOf(endpoint?.url ?? '', maxLength)
  const facts = [
    ['State', stateTag(status)],
    ['Endpoint', endpoint ? recordLink(signedIn, 'endpoints', endpointId, url(200)) : 'Deleted'],
    ['About', subjectLink(signedIn, subject)],
    ['Happened', <Minute time={createdAt} />],
    ['Next attempt', nextAttemptAt && <Minute time={nextAttemptAt} />],
    ['Finished', finishedAt && <Minute time={finishedAt} />],
    ['ID', <code>{id}</code>],
  ] as const
  const back = endpoint
    ? ([recordUrl(signedIn, 'endpoints', endpointId), url(80)] as const)
    : ([`${signedIn.base}/dashboard/endpoints`, 'Webhook endpoints'] as const)
  const replay = (
    <div class="actions">
      <button type="submit">Replay</button>
    </div>
  )
  return framePage(
    signedIn,
    { title: 'Webhook message', section, fault, back, heading: type },
    faultList(fault),
    detailsCard(
      facts,
      endpoint?.status === 'active' ? postForm(signedIn, 'Replay the message', replay) : null,
    ),
    listCard(signedIn, attemptList, { data: message.attempts }, { none: 'Not sent yet.' }),
    <Card id="body" title="Body">
      {document(message.body)}
    </Card>,
  )
}

function subjectLink(signedIn: SignedInRequest, id: string): Child {
  const name = <code>{lineOf(id, 64)}</code>
  const place = id.startsWith('usr_') ? 'learners' : id.startsWith('crs_') ? 'courses' : undefined
  return place ? recordLink(signedIn, place, id, name) : name
}

const attemptList: List<Attempt> = {
  id: 'attempts',
  title: 'Attempts',
  caption: 'Attempts to deliver the message',
  columns: [
    { name: 'Attempt', cell: ({ number }) => formatCount(number) },
    { name: 'Started', cell: ({ startedAt }) => <Minute time={startedAt} /> },
    { name: 'Duration', look: 'figures', cell: ({ durationMs }) => `${formatCount(durationMs)} ms` },
    {
      name: 'HTTP status',
      look: 'figures',
      cell: ({ status }) => (status === null ? '–' : String(status)),
    },
    { name: 'Result', look: 'broad', cell: ({ result }) => lineOf(result, 200) },
    {
      name: 'Response',
      look: 'broad',
      cell: ({ response }) => (response === '' ? none : <code>{lineOf(response, 300)}</code>),
    },
  ],
}

export const messagePages = [...list, page]
