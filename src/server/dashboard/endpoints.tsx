import { eventPatterns } from '../../contract/actions.ts'
import { type Endpoint, endpoints, type NewEndpoint } from '../../contract/endpoints.ts'
import { endpointRoutes } from '../events/endpoints.ts'
import type { Reply } from '../http/reply.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { Choice, Faults, Field, type FilledIn, Form, isFaulty, OnceField, submitOnce } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { listPage } from './list.tsx'
import { pageQueryOf } from './paging.tsx'
import { Day, lineOf } from './value-text.tsx'

const path = '/dashboard/endpoints'

/** Webhook endpoints and the form that creates one, for admins. */
export const endpointsPage = listPage<Endpoint>({
  path,
  section: '/dashboard/integrations',
  title: 'Webhook endpoints',
  tab: 'Webhook endpoints',
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
          <a href={`${base}${path}/${encodeURIComponent(id)}`}>{lineOf(url, 120)}</a>
        ),
      },
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
  read: (signedIn) => ask(signedIn, endpointRoutes, endpoints.list, { query: pageQueryOf(signedIn) }),
  none: () => <p>No endpoints yet. Create one below, then send it a test event.</p>,
  form: {
    title: 'Create an endpoint',
    initial: 'events=*',
    Fields: (filledIn) => <EndpointForm label="Create endpoint" {...filledIn} />,
  },

  act: (signedIn, form) =>
    submitOnce(signedIn, form, addressOf(signedIn, path, 'endpoint_made_before'), async (inside) =>
      secretPage(
        inside,
        await ask(inside, endpointRoutes, endpoints.create, { body: endpointInputOf(form) }),
        'Your new endpoint',
      ),
    ),
})

const labels = { url: 'URL', events: 'Events', description: 'Description' }

/** Patterns for whole nouns (`course.*`), each with its events. */
const groups = eventPatterns
  .filter((pattern) => pattern.endsWith('.*'))
  .map((all) => ({
    all,
    noun: all.slice(0, -2),
    events: eventPatterns.filter((one) => one !== all && one.startsWith(all.slice(0, -1))),
  }))

const nounWords: Readonly<Record<string, string>> = {
  course: 'Course',
  lesson: 'Lesson',
  user: 'User',
  enrollment: 'Enrolment',
  progress: 'Progress',
  grade: 'Grade',
}

/** The form that creates or edits an endpoint. */
export function EndpointForm({ signedIn, form, fault, label }: FilledIn & { label: string }) {
  const chosen = form.getAll('events')
  const EventChoice = ({ value }: { value: string }) => (
    <Choice
      type="checkbox"
      name="events"
      value={value}
      checked={chosen.includes(value)}
      words={value === '*' ? 'All events' : <code>{value}</code>}
    />
  )
  return (
    <Form signedIn={signedIn} label={label}>
      <Faults fault={fault} labels={labels} />
      <OnceField signedIn={signedIn} />
      <input type="hidden" name="action" value="save" />
      <Field
        name="url"
        label={labels.url}
        hint="https, or http where the server allows it"
        fault={fault}
        type="url"
        value={form.get('url') ?? ''}
        maxlength={2000}
        required
        autocomplete="off"
        spellcheck={false}
      />
      <fieldset id="events" tabindex={-1} aria-invalid={isFaulty(fault, 'events')}>
        <legend>{labels.events}</legend>
        <EventChoice value="*" />
        {groups.map(({ all, noun, events }) => (
          <details open={[all, ...events].some((one) => chosen.includes(one))}>
            <summary>{`${nounWords[noun] ?? noun} events`}</summary>
            {[all, ...events].map((value) => (
              <EventChoice value={value} />
            ))}
          </details>
        ))}
      </fieldset>
      <Field
        name="description"
        label={labels.description}
        hint="What the endpoint is for"
        fault={fault}
        value={form.get('description') ?? ''}
        maxlength={255}
        autocomplete="off"
      />
      <div class="actions">
        <button type="submit">{label}</button>
      </div>
    </Form>
  )
}

/** Returns the API's input of a form. */
export function endpointInputOf(form: URLSearchParams) {
  return {
    url: (form.get('url') ?? '').trim(),
    events: form.getAll('events'),
    description: form.get('description') ?? '',
  }
}

/** Fills the form with an endpoint. */
export function filledInWith({ url, events, description }: Endpoint): URLSearchParams {
  return new URLSearchParams([
    ['url', url],
    ...events.map((event) => ['events', event]),
    ['description', description],
  ])
}

/** The one page that shows the signing secret of an endpoint. */
export function secretPage(
  signedIn: SignedInRequest,
  { id, url, events, secret, previousSecretUntil }: NewEndpoint,
  title: string,
): Reply {
  return framePage(
    signedIn,
    { title, section: '/dashboard/integrations' },
    <div class="card short">
      <h1>{title}</h1>
      <p role="status">Copy the signing secret now. It will not be shown again.</p>
      <code class="code secret">{secret}</code>
      <p>The receiver verifies with it that a request comes from this server.</p>
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

/** The events that an endpoint subscribes to. */
export function EventNames({ events }: { events: readonly string[] }) {
  return events.includes('*') ? <>All events</> : <code>{events.join(' ')}</code>
}

/** Active, paused or disabled, and why. */
export function EndpointState({ endpoint: { status, disabledReason, pausedUntil } }: { endpoint: Endpoint }) {
  const state = status === 'active' && pausedUntil !== null ? 'paused' : status
  return (
    <>
      <span class={`state ${state}`}>{state}</span>
      {disabledReason === 'gone' ? <small>The receiver returned 410 Gone</small> : null}
    </>
  )
}
