import { type Endpoint, endpoints } from '../../contract/endpoints.ts'
import { endpointRoutes } from '../webhooks/outbox/endpoints.ts'
import { EndpointForm, endpointInputOf } from './endpoint-form.tsx'
import { secretPage } from './endpoint-secret.tsx'
import { EndpointState, EventNames } from './endpoint-state.tsx'
import { doneOnce } from './form.tsx'
import { addressOf } from './frame.tsx'
import { listPage } from './list.tsx'
import { pageAsked } from './paging.tsx'
import { ask } from './signed-in-request.ts'
import { Day, shown } from './value-text.tsx'

const path = '/dashboard/endpoints'

/** Webhook endpoints, for admins: where events are sent, and the form for another one. */
export const endpointsPage = listPage<Endpoint>({
  path,
  section: '/dashboard/integrations',
  title: 'Webhook endpoints',
  part: 'Webhook endpoints',
  intro:
    'The server sends events to each endpoint as signed HTTP requests (Standard Webhooks) and retries those that fail.',
  list: {
    id: 'endpoints',
    title: 'Endpoints',
    caption: 'Endpoints, newest first',
    columns: [
      {
        name: 'URL',
        look: 'broad',
        cell: ({ id, url }, { base }) => (
          <a href={`${base}${path}/${encodeURIComponent(id)}`}>{shown(url, 120)}</a>
        ),
      },
      { name: 'Events', look: 'broad', cell: ({ events }) => <EventNames events={events} /> },
      {
        name: 'Description',
        look: 'broad',
        cell: ({ description }) => (description === '' ? <span class="none">–</span> : shown(description)),
      },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      { name: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
    ],
  },
  read: (signedIn) => ask(signedIn, endpointRoutes, endpoints.list, { query: pageAsked(signedIn) }),
  none: () => <p>No endpoints yet. Create one below, then send it a test event.</p>,
  form: {
    title: 'Create an endpoint',
    initial: 'events=*',
    Fields: (filledIn) => <EndpointForm label="Create endpoint" {...filledIn} />,
  },

  act: (signedIn, form) =>
    doneOnce(signedIn, form, addressOf(signedIn, path, 'endpoint_made_before'), async (inside) =>
      secretPage(
        inside,
        await ask(inside, endpointRoutes, endpoints.create, { body: endpointInputOf(form) }),
        'Your new endpoint',
      ),
    ),
})
