import { type Endpoint, endpoints } from '../../contract/endpoints.ts'
import type { Reply } from '../http/reply.ts'
import type { ProblemError } from '../problem/problem-error.ts'
import { endpointRoutes } from '../webhooks/outbox/endpoints.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { EndpointForm, endpointInputOf } from './endpoint-form.tsx'
import { secretPage } from './endpoint-secret.tsx'
import { EndpointState, EventNames } from './endpoint-state.tsx'
import { doneOnce } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { IntegrationParts } from './integration-parts.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Day, shown } from './value-text.tsx'

const section = '/dashboard/endpoints'

/** Webhook endpoints, for admins: where events are sent, and the form for another one. */
export const endpointsPage: DashboardPage = {
  path: section,
  show: (signedIn) => endpointList(signedIn),

  act: (signedIn, form) =>
    doneOnce(signedIn, form, addressOf(signedIn, section, 'endpoint_made_before'), async (inside) =>
      secretPage(
        inside,
        await ask(inside, endpointRoutes, endpoints.create, { body: endpointInputOf(form) }),
        'Your new endpoint',
      ),
    ),

  again: endpointList,
}

async function endpointList(
  signedIn: SignedInRequest,
  fault?: ProblemError,
  form = new URLSearchParams({ events: '*' }),
): Promise<Reply> {
  const { data, nextCursor } = await ask(signedIn, endpointRoutes, endpoints.list, {
    query: pageAsked(signedIn),
  })
  return framed(
    signedIn,
    {
      title: fault ? 'Error: webhook endpoints' : 'Webhook endpoints',
      section: '/dashboard/integrations',
      fault,
    },
    <>
      <h1>Webhook endpoints</h1>
      <IntegrationParts signedIn={signedIn} shown="Webhook endpoints" />
      <p>
        The server sends events to each endpoint as signed HTTP requests (Standard Webhooks) and retries those
        that fail.
      </p>
      <section class="card" aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        {data.length === 0 ? (
          <p>No endpoints yet. Create one below, then send it a test event.</p>
        ) : (
          <EndpointTable signedIn={signedIn} endpoints={data} />
        )}
        {nextPage(signedIn, nextCursor)}
      </section>
      <section class="card short" aria-labelledby="new">
        <h2 id="new">Create an endpoint</h2>
        <EndpointForm label="Create endpoint" {...{ signedIn, form, fault }} />
      </section>
    </>,
  )
}

function EndpointTable({
  signedIn,
  endpoints,
}: {
  signedIn: SignedInRequest
  endpoints: readonly Endpoint[]
}) {
  return (
    <Table
      caption="Endpoints, newest first"
      columns={[
        { name: 'URL', look: 'broad' },
        { name: 'Events', look: 'broad' },
        { name: 'Description', look: 'broad' },
        { name: 'Created' },
        { name: 'State' },
      ]}
      rows={endpoints.map((endpoint) => [
        <a href={`${signedIn.base}${section}/${encodeURIComponent(endpoint.id)}`}>
          {shown(endpoint.url, 120)}
        </a>,
        <EventNames events={endpoint.events} />,
        endpoint.description === '' ? <span class="none">–</span> : shown(endpoint.description),
        <Day time={endpoint.createdAt} />,
        <EndpointState endpoint={endpoint} />,
      ])}
    />
  )
}
