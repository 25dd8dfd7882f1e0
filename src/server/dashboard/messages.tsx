import { endpoints } from '../../contract/endpoints.ts'
import { messageTypes } from '../../contract/events.ts'
import { messages } from '../../contract/messages.ts'
import { endpointRoutes, mostEndpoints } from '../webhooks/outbox/endpoints.ts'
import { messageRoutes } from '../webhooks/outbox/messages.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framed } from './frame.tsx'
import { IntegrationParts } from './integration-parts.tsx'
import { MessageTable } from './message-table.tsx'
import { nextPage, noneText, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { messageStatuses, StatusFilter } from './status-filter.tsx'

const path = '/dashboard/messages'

/** Messages to all endpoints, for admins: what is on its way, what arrived and what was given up. */
export const messagesPage: DashboardPage = {
  path,
  async show(signedIn) {
    const { query, base } = signedIn
    const [status, type] = ['status', 'type'].map((name) => query.get(name) || undefined)
    const { data, nextCursor } = await ask(signedIn, messageRoutes, messages.list, {
      query: { ...pageAsked(signedIn), status, type },
    })
    const isFiltered = status !== undefined || type !== undefined
    return framed(
      signedIn,
      { title: 'Messages', section: '/dashboard/integrations' },
      <>
        <h1>Messages</h1>
        <IntegrationParts signedIn={signedIn} shown="Messages" />
        <p>Events on their way to webhook endpoints. Those that fail are sent again for about three days.</p>
        <section class="card" aria-labelledby="messages">
          <h2 id="messages">Messages</h2>
          <StatusFilter
            label="Messages by status"
            here={base + path + (type === undefined ? '' : `?${new URLSearchParams({ type })}`)}
            choices={messageStatuses}
            chosen={status}
            anchor="messages"
          />
          <TypeFilter signedIn={signedIn} status={status} chosen={type} />
          {data.length > 0 ? (
            <MessageTable base={base} messages={data} endpoints={await namesOf(signedIn)} />
          ) : (
            <p>
              {isFiltered ? (
                noneText(nextCursor, 'No messages match.')
              ) : (
                <>
                  No messages yet. <a href={`${base}/dashboard/endpoints`}>Create an endpoint</a>, then send
                  it a test event.
                </>
              )}
            </p>
          )}
          {nextPage(signedIn, nextCursor)}
        </section>
      </>,
    )
  },
}

/** The URLs of all endpoints, by their ids. */
async function namesOf(signedIn: SignedInRequest): Promise<ReadonlyMap<string, string>> {
  const { data } = await ask(signedIn, endpointRoutes, endpoints.list, {
    query: { limit: String(mostEndpoints) },
  })
  return new Map(data.map(({ id, url }) => [id, url]))
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
