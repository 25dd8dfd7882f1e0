import type { Child } from 'hono/jsx'
import { eventPatterns } from '../../contract/actions.ts'
import { type Endpoint, endpointKinds } from '../../contract/endpoints.ts'
import { ProblemError } from '../problem-error.ts'
import {
  ChatFields,
  type FieldProps,
  endpointLabels as labels,
  TextField,
  XapiFields,
} from './endpoint-settings.tsx'
import { Choice, Faults, type FilledIn, Form, isFaulty, OnceField } from './form.tsx'

type Kind = Endpoint['kind']

export const kindWords: Readonly<Record<Endpoint['kind'], string>> = {
  standard: 'Standard Webhooks',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  xapi: 'Learning record store (xAPI)',
}

/** Creates or edits an endpoint; a new one can be of any kind. */
export function EndpointForm({
  signedIn,
  form,
  fault: sent,
  label,
  kind,
}: FilledIn & { label: string; kind: Kind | undefined }) {
  const fault = sent && withFields(sent)
  const filledIn = { form, fault }
  return (
    <Form signedIn={signedIn} label={label}>
      <Faults fault={fault} labels={labels} />
      <OnceField signedIn={signedIn} />
      <input type="hidden" name="action" value="save" />
      {kind === undefined ? (
        <fieldset id="kind" tabindex={-1} aria-invalid={isFaulty(fault, 'kind')}>
          <legend>{labels.kind}</legend>
          {endpointKinds.map((each) => (
            <Choice
              type="radio"
              name="kind"
              value={each}
              checked={(form.get('kind') ?? 'standard') === each}
              words={kindWords[each]}
            />
          ))}
        </fieldset>
      ) : null}
      <TextField
        name="url"
        hint={
          kind === undefined || isChat(kind)
            ? 'https, or http where the server allows it. That of Slack and Teams is a secret: it is not shown again'
            : 'https, or http where the server allows it'
        }
        input={{ type: 'url', maxlength: 2000, required: true }}
        {...filledIn}
      />
      <Events {...filledIn} />
      <TextField
        name="description"
        hint="What the endpoint is for"
        input={{ maxlength: 255 }}
        {...filledIn}
      />
      <Part
        isOwn={kind !== undefined && isChat(kind)}
        isNew={kind === undefined}
        title="Slack and Teams"
        {...filledIn}
        names={chatNames}
      >
        <ChatFields {...filledIn} />
      </Part>
      <Part
        isOwn={kind === 'xapi'}
        isNew={kind === undefined}
        title="Learning record store"
        {...filledIn}
        names={xapiNames}
      >
        <XapiFields {...filledIn} isNew={kind === undefined} />
      </Part>
      <div class="actions">
        <button type="submit">{label}</button>
      </div>
    </Form>
  )
}

const chatNames = [
  'schedule',
  'digestHour',
  'digestTimezone',
  'courseIds',
  'atRiskOnly',
  'learnerNames',
] as const
const xapiNames = ['xapiVersion', 'actor', 'homePage', 'username', 'password', 'tokenUrl', 'scope'] as const

function isChat(kind: Kind): boolean {
  return kind === 'slack' || kind === 'teams'
}

/** Settings of one kind: shown for an endpoint of the kind, folded in the form of a new one. */
function Part({
  isOwn,
  isNew,
  title,
  names,
  form,
  fault,
  children,
}: FieldProps & {
  isOwn: boolean
  isNew: boolean
  title: string
  names: readonly string[]
  children: Child
}) {
  if (isOwn) return <>{children}</>
  if (!isNew) return null
  const isOpen =
    names.some((name) => isFaulty(fault, name)) || names.includes(partOf[form.get('kind') ?? ''] ?? '')
  return (
    <details open={isOpen}>
      <summary>{`Settings: ${title}`}</summary>
      {children}
    </details>
  )
}

const partOf: Readonly<Record<string, string>> = { slack: 'schedule', teams: 'schedule', xapi: 'actor' }

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
  group: 'Group',
  membership: 'Membership',
  progress: 'Progress',
  grade: 'Grade',
}

function Events({ form, fault }: FieldProps) {
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
  )
}

/** `/chat/digestHour` is the field `digestHour`. */
function withFields(fault: ProblemError): ProblemError {
  const errors = fault.errors?.map((error) => ({
    ...error,
    ...(error.pointer && { pointer: error.pointer.replace(/^#\/(?:chat|xapi)\//, '#/') }),
  }))
  return errors ? new ProblemError(fault.code, fault.message, { errors }) : fault
}

export function endpointInputOf(form: URLSearchParams, kind: string) {
  const given = (name: string) => (form.get(name) ?? '').trim()
  const password = form.get('password') ?? ''
  return {
    url: given('url'),
    events: form.getAll('events'),
    description: form.get('description') ?? '',
    ...((kind === 'slack' || kind === 'teams') && { chat: chatOf(form, given) }),
    ...(kind === 'xapi' && {
      xapi: {
        xapiVersion: given('xapiVersion') || '1.0.3',
        actor: given('actor') || 'id',
        ...(given('homePage') !== '' && { homePage: given('homePage') }),
        username: given('username') || null,
        tokenUrl: given('tokenUrl') || null,
        scope: given('scope') || null,
      },
      ...(password !== '' && { password }),
    }),
  }
}

function chatOf(form: URLSearchParams, given: (name: string) => string) {
  const hour = given('digestHour')
  return {
    schedule: given('schedule') || 'immediately',
    ...(hour !== '' && { digestHour: Number(hour) }),
    digestTimezone: given('digestTimezone') || 'UTC',
    courseIds: given('courseIds')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    atRiskOnly: form.get('atRiskOnly') === 'true',
    learnerNames: form.get('learnerNames') === 'true',
  }
}

/** Without the secrets. */
export function filledInWith({ url, events, description, chat, xapi }: Endpoint): URLSearchParams {
  const settings = {
    ...chat,
    ...xapi,
    ...(chat && { courseIds: chat.courseIds.join('\n') }),
  }
  return new URLSearchParams([
    ['url', url],
    ...events.map((event) => ['events', event]),
    ['description', description],
    ...Object.entries(settings).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  ])
}
