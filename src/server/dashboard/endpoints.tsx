import { eventPatterns } from '../../contract/actions.ts'
import type { ChatSettings } from '../../contract/chat.ts'
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
    'The server sends events to each endpoint as signed HTTP requests (Standard Webhooks), or as messages into a channel, and retries those that fail.',
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
      { name: 'Kind', cell: ({ kind }) => kindWords[kind] },
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
    initial: 'events=*&kind=standard',
    Fields: (filledIn) => <EndpointForm label="Create endpoint" isNew {...filledIn} />,
  },

  act: (signedIn, form) =>
    submitOnce(signedIn, form, addressOf(signedIn, path, 'endpoint_made_before'), async (inside) =>
      secretPage(
        inside,
        await ask(inside, endpointRoutes, endpoints.create, {
          body: { kind: form.get('kind') ?? 'standard', ...endpointInputOf(form) },
        }),
        'Your new endpoint',
      ),
    ),
})

const labels = { kind: 'Kind', url: 'URL', events: 'Events', description: 'Description' }

/** Names of the kinds of endpoints. */
export const kindWords: Readonly<Record<Endpoint['kind'], string>> = {
  standard: 'Standard Webhooks',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  xapi: 'Learning record store (xAPI)',
}

/** Kinds that the form can create; others need a credential, which the command line asks for. */
const formKinds = ['standard', 'slack', 'teams'] as const

/** What an endpoint writes into its channel, and when, in words. */
export function chatText({
  schedule,
  digestHour,
  digestTimezone,
  courseIds,
  atRiskOnly,
  learnerNames,
}: ChatSettings): string {
  const digest = `${atRiskOnly ? 'learners at risk' : 'digest'}, daily at ${digestHour}:00 (${digestTimezone})`
  return [
    schedule === 'daily' ? digest : 'when something happens',
    courseIds.length === 0
      ? 'all courses'
      : courseIds.length === 1
        ? '1 course'
        : `${courseIds.length} courses`,
    learnerNames ? 'with names of learners' : 'without names of learners',
  ].join('; ')
}

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
export function EndpointForm({
  signedIn,
  form,
  fault,
  label,
  isNew = false,
}: FilledIn & { label: string; isNew?: boolean }) {
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
      {isNew ? (
        <fieldset id="kind" tabindex={-1} aria-invalid={isFaulty(fault, 'kind')}>
          <legend>{labels.kind}</legend>
          {formKinds.map((kind) => (
            <label class="choice">
              <input
                type="radio"
                name="kind"
                value={kind}
                checked={(form.get('kind') ?? 'standard') === kind}
              />
              <span>{kindWords[kind]}</span>
            </label>
          ))}
        </fieldset>
      ) : null}
      <Field
        name="url"
        label={labels.url}
        hint="https, or http where the server allows it. That of Slack and Teams is a secret: it is not shown again"
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
      {secret === null ? (
        <p role="status">The URL is stored encrypted. Send a test event, and look in the channel.</p>
      ) : (
        <>
          <p role="status">Copy the signing secret now. It will not be shown again.</p>
          <code class="code secret">{secret}</code>
          <p>The receiver verifies with it that a request comes from this server.</p>
        </>
      )}
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
