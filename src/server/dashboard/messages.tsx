import { lineOf } from '../../codec/display-text.ts'
import { messageTypes } from '../../contract/actions.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { type Message, messages } from '../../contract/messages.ts'
import { maxEndpoints } from '../events/endpoints.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { type FilterField, FilterForm } from './filter-form.tsx'
import { capitalizedChoices, filterIn, type ListColumn, listPage } from './list.tsx'
import { formatCount, Minute, none, recordUrl } from './values.tsx'

const path = '/dashboard/messages'

export const statusField: FilterField = {
  name: 'status',
  label: 'State',
  // In the order of a message's life.
  choices: capitalizedChoices(['pending', 'delivered', 'failed']),
  all: 'Any state',
}

export const messageColumns: readonly ListColumn<Message>[] = [
  {
    name: 'Event',
    cell: ({ id, type }, signedIn) => <a href={recordUrl(signedIn, 'messages', id)}>{type}</a>,
  },
  { name: 'Happened', cell: ({ createdAt }) => <Minute time={createdAt} /> },
  { name: 'State', cell: (message) => <MessageState message={message} /> },
  { name: 'Attempts', look: 'figures', cell: ({ attemptCount }) => formatCount(attemptCount) },
  {
    name: 'Last result',
    cell: ({ lastResult }) => (lastResult === null ? none : lineOf(lastResult, 120)),
  },
]

/** The URL is undefined if the endpoint was deleted. */
type Sent = Message & { readonly endpointUrl: string | undefined }

const endpointColumn: ListColumn<Sent> = {
  name: 'Endpoint',
  look: 'broad',
  cell: ({ endpointId, endpointUrl }, signedIn) => (
    <a href={recordUrl(signedIn, 'endpoints', endpointId)}>{lineOf(endpointUrl ?? endpointId, 120)}</a>
  ),
}

/** To all endpoints, for admins. */
export const messagesPages = listPage<Sent, Message>({
  path,
  section: '/dashboard/integrations',
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

  filters: (signedIn) => (
    <FilterForm
      signedIn={signedIn}
      label="Filter messages"
      fields={[
        statusField,
        {
          name: 'type',
          label: 'Event',
          choices: messageTypes.map((type) => [type, type]),
          all: 'All events',
        },
      ]}
      anchor="messages"
    />
  ),

  none: ({ base }) => (
    <p>
      No messages yet. <a href={`${base}/dashboard/endpoints`}>Create an endpoint</a>, then send it a test
      event.
    </p>
  ),
  noMatch: 'No messages match.',
})

async function endpointUrls(signedIn: SignedInRequest): Promise<ReadonlyMap<string, string>> {
  const { data } = await ask(signedIn, endpoints.list, {
    query: { limit: String(maxEndpoints) },
  })
  return new Map(data.map(({ id, url }) => [id, url]))
}

function MessageState({ message: { status, nextAttemptAt, attemptCount } }: { message: Message }) {
  return (
    <>
      <span class={`state ${status}`}>{status}</span>
      {nextAttemptAt === null || attemptCount === 0 ? null : (
        <small>
          Next attempt <Minute time={nextAttemptAt} />
        </small>
      )}
    </>
  )
}
