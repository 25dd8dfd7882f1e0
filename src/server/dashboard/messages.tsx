import { lineOf } from '../../codec/display-text.ts'
import { messageTypes } from '../../contract/actions.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { type Message, messages } from '../../contract/messages.ts'
import { maxEndpoints } from '../events/endpoints.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { type ListColumn, listPage, StatusFilter } from './list.tsx'
import { noneText, type PageQuery, pageQueryOf } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { formatCount, Minute } from './values.tsx'

const path = '/dashboard/messages'

/** In the order of a message's life. */
export const messageStatuses = ['pending', 'delivered', 'failed'] as const

export const messageColumns: readonly ListColumn<Message>[] = [
  {
    name: 'Event',
    cell: ({ id, type }, { base }) => <a href={`${base}${path}/${encodeURIComponent(id)}`}>{type}</a>,
  },
  { name: 'Happened', cell: ({ createdAt }) => <Minute time={createdAt} /> },
  { name: 'State', cell: (message) => <MessageState message={message} /> },
  { name: 'Attempts', look: 'figures', cell: ({ attemptCount }) => formatCount(attemptCount) },
  {
    name: 'Last result',
    cell: ({ lastResult }) => (lastResult === null ? <span class="none">–</span> : lineOf(lastResult, 120)),
  },
]

/** The URL is undefined if the endpoint was deleted. */
type Sent = Message & { readonly endpointUrl: string | undefined }

const endpointColumn: ListColumn<Sent> = {
  name: 'Endpoint',
  look: 'broad',
  cell: ({ endpointId, endpointUrl }, { base }) => (
    <a href={`${base}/dashboard/endpoints/${encodeURIComponent(endpointId)}`}>
      {lineOf(endpointUrl ?? endpointId, 120)}
    </a>
  ),
}

function readMessages(signedIn: SignedInRequest, page: PageQuery) {
  return ask(signedIn, messages.list, { query: { ...page, ...filterOf(signedIn) } })
}

export const messagesFile: TableFile = { path, operation: messages.list, read: readMessages }

/** To all endpoints, for admins. */
export const messagesPage = listPage<Sent>({
  path,
  section: '/dashboard/integrations',
  title: 'Messages',
  tab: 'Messages',
  intro: 'Events on their way to webhook endpoints. Those that fail are sent again for about three days.',
  list: {
    id: 'messages',
    title: 'Messages',
    caption: 'Messages, newest first',
    columns: [...messageColumns.slice(0, 1), endpointColumn, ...messageColumns.slice(1)],
  },

  async read(signedIn) {
    const { data, nextCursor } = await readMessages(signedIn, pageQueryOf(signedIn))
    const urls = data.length > 0 ? await endpointUrls(signedIn) : undefined
    return { data: data.map((each) => ({ ...each, endpointUrl: urls?.get(each.endpointId) })), nextCursor }
  },

  file: messagesFile,

  filters(signedIn) {
    const { status, type } = filterOf(signedIn)
    return (
      <>
        <StatusFilter
          label="Messages by status"
          here={signedIn.base + path + (type === undefined ? '' : `?${new URLSearchParams({ type })}`)}
          choices={messageStatuses}
          chosen={status}
          anchor="messages"
        />
        <TypeFilter signedIn={signedIn} status={status} chosen={type} />
      </>
    )
  },

  none(signedIn, { nextCursor = null }) {
    const { status, type } = filterOf(signedIn)
    if (status !== undefined || type !== undefined) return <p>{noneText(nextCursor, 'No messages match.')}</p>
    return (
      <p>
        No messages yet. <a href={`${signedIn.base}/dashboard/endpoints`}>Create an endpoint</a>, then send it
        a test event.
      </p>
    )
  },
})

function filterOf({ query }: SignedInRequest) {
  return { status: query.get('status') || undefined, type: query.get('type') || undefined }
}

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

function TypeFilter({
  signedIn: { base },
  status,
  chosen,
}: {
  signedIn: SignedInRequest
  status: string | undefined
  chosen: string | undefined
}) {
  return (
    <search>
      <form method="get" action={base + path} class="search" aria-label="Filter messages">
        {status === undefined ? null : <input type="hidden" name="status" value={status} />}
        <label for="type">Event</label>
        <select id="type" name="type">
          <option value="">All events</option>
          {messageTypes.map((type) => (
            <option value={type} selected={type === chosen}>
              {type}
            </option>
          ))}
        </select>
        <button type="submit" class="quiet">
          Filter
        </button>
      </form>
    </search>
  )
}
