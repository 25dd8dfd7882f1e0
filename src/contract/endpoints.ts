import * as z from 'zod'
import { eventPatterns } from './actions.ts'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import { choiceOf, listOf, paging, periodAndUpdates } from './lists.ts'
import { Message } from './messages.ts'
import { operationsOf } from './operation.ts'
import { changed, textOrNull, timeOrNull } from './record-fields.ts'
import { XapiSettings } from './statements.ts'
import { Instant, optional, Reference, Timezone, WebAddress } from './values.ts'

const schedules = ['immediately', 'daily'] as const
export const ChatSchedule = named(
  'ChatSchedule',
  'immediately for a message when something happens, daily for one digest a day',
  z.enum(schedules),
)

const maxCourses = 50

/** Settings of an endpoint of kind `slack` or `teams`: which messages it writes into its channel, and when. */
export const ChatSettings = sent(
  {
    schedule: field(
      ChatSchedule.default('immediately'),
      'When messages are sent: immediately when something happens, or daily as a digest',
      'Send messages immediately, or a daily digest',
    ),
    digestHour: field(
      z.int().min(0).max(23).default(8),
      'Hour of the digest, 0–23',
      'Hour of the digest, 0–23',
    ),
    digestTimezone: field(
      Timezone.default('UTC'),
      'IANA time zone of the hour, such as Europe/Vienna',
      'IANA time zone of the hour',
    ),
    courseIds: field(
      z.array(Reference).max(maxCourses).default([]),
      'Courses that messages are about: ids or ext:<externalId>; empty for everything; responses have ids',
      'Courses that messages are about (default everything)',
    ),
    atRiskOnly: field(
      z.boolean().default(false),
      'Whether a digest only tells which learners need attention',
      'Only learners who need attention, in a digest',
    ),
    learnerNames: field(
      z.boolean().default(false),
      'Whether messages have the names of learners; without, they have external ids or counts',
      'Write the names of learners, which the other system then stores',
    ),
  },
  (object) =>
    object.refine(({ schedule, atRiskOnly }) => schedule === 'daily' || !atRiskOnly, {
      path: ['atRiskOnly'],
      params: { code: 'requires_daily' },
      error: 'requires the schedule daily',
    }),
)
export type ChatSettings = z.output<typeof ChatSettings>

export const endpointKinds = ['standard', 'slack', 'teams', 'xapi'] as const
export const EndpointKind = named(
  'EndpointKind',
  'What an endpoint receives: standard for signed events (Standard Webhooks), slack or teams for messages in a channel, xapi for statements in a learning record store',
  z.enum(endpointKinds),
)
export type EndpointKind = z.output<typeof EndpointKind>

const endpointStatuses = ['active', 'disabled'] as const
export const EndpointStatus = named(
  'EndpointStatus',
  'Whether events are sent to an endpoint',
  z.enum(endpointStatuses),
)

/** Without a password, which readers of the list would see, and without a fragment, which is never sent. */
const EndpointUrl = WebAddress.refine((address) => !URL.canParse(address) || isPlain(new URL(address)), {
  params: { code: 'invalid_url' },
  error: 'must not contain a user name, a password or a fragment',
})

const attributes = {
  kind: field(
    EndpointKind.default('standard'),
    'What the endpoint receives: standard for signed events (Standard Webhooks), slack or teams for messages in a channel, xapi for statements in a learning record store. It cannot be changed',
    'What it receives: standard for signed events, slack or teams for messages in a channel, xapi for statements',
  ),
  url: field(
    EndpointUrl,
    'Where events are sent: an https URL, or an http URL that the server allows. That of a slack or teams endpoint is a secret: responses have its host and last characters; of other endpoints they leave out the query, which may hold a token',
    'URL to send events to: https, or http on this machine',
  ),
  events: field(
    z.array(z.enum(eventPatterns)).min(1).max(eventPatterns.length).default(['*']),
    'What it subscribes to: events such as course.published, all events of a noun such as course.*, or * for all (default all)',
    'Events such as course.published, course.* or * for all',
  ),
  description: field(z.string().trim().max(255).default(''), 'What the endpoint is for'),
  status: field(EndpointStatus.default('active'), 'Whether events are sent to it', 'Whether events are sent'),
  chat: field(
    optional(ChatSettings),
    'What a slack or teams endpoint writes, and when; null for other kinds',
  ),
  xapi: field(
    optional(XapiSettings),
    'How an xapi endpoint reaches the record store, and what its statements look like; null for other kinds',
  ),
  password: field(
    z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[^\p{Cc}]*$/u, 'must be one line')
      .optional()
      .meta({ writeOnly: true }),
    'Password of the user, or secret of the client, of an xapi endpoint; can only be written',
  ),
  expiresAt: field(
    optional(Instant),
    'When the endpoint is deleted, null for never',
    'Delete it then: a time, a day, a duration such as 2h, or never',
  ),
}

export const EndpointInput = named('EndpointInput', 'The attributes of a webhook endpoint', sent(attributes))
export type EndpointInput = z.output<typeof EndpointInput>

export const EndpointPatch = named(
  'EndpointPatch',
  'The attributes of a webhook endpoint that change',
  patchOf(EndpointInput),
)

function shownFields() {
  const { kind, url, events, description, status, chat, xapi, expiresAt } = answered(attributes)
  return {
    id: field(z.string(), 'Id of the endpoint, whe_…'),
    kind,
    url,
    events: field(z.array(z.string()).max(eventPatterns.length), events.says),
    description,
    status,
    chat,
    xapi,
    disabledReason: field(
      z.enum(['gone']).nullable(),
      'Why the server disabled it: gone if the receiver returned 410; null if it did not',
    ),
    expiresAt,
    pausedUntil: timeOrNull(
      'Until when nothing is sent, because the receiver asked for a pause; null if it is not paused',
    ),
    previousSecretUntil: timeOrNull(
      'Until when messages are also signed with the secret before; null if they are not',
    ),
    ...changed,
  }
}

export const Endpoint = named('Endpoint', 'A webhook endpoint, without its secret', shown(shownFields))
export type Endpoint = z.output<typeof Endpoint>

/** The only responses with the secret. */
export const NewEndpoint = named(
  'NewEndpoint',
  'A webhook endpoint with its new secret',
  shown(() => ({
    ...shownFields(),
    secret: textOrNull(
      'The signing secret, whsec_…. Shown only once: null in a replayed response, and for other kinds than standard',
    ),
  })),
)
export type NewEndpoint = z.output<typeof NewEndpoint>

export const endpoints = operationsOf('endpoints', {
  list: {
    at: 'GET /v1/webhooks/endpoints',
    summary: 'List webhook endpoints',
    scope: 'admin',
    query: z.strictObject({
      status: choiceOf('status', endpointStatuses),
      ...periodAndUpdates('Created', 'createdAt'),
      ...paging,
    }),
    ...listOf(Endpoint, 'webhook endpoints'),
  },
  get: {
    at: 'GET /v1/webhooks/endpoints/{endpointId}',
    summary: 'Show a webhook endpoint',
    scope: 'admin',
    response: Endpoint,
  },
  create: {
    at: 'POST /v1/webhooks/endpoints',
    summary: 'Create a webhook endpoint',
    scope: 'admin',
    body: EndpointInput,
    response: NewEndpoint,
    secret: 'secret',
  },
  update: {
    at: 'PUT /v1/webhooks/endpoints/{endpointId}',
    summary: 'Update a webhook endpoint',
    scope: 'admin',
    body: EndpointPatch,
    merge: true,
    response: Endpoint,
  },
  delete: {
    at: 'DELETE /v1/webhooks/endpoints/{endpointId}',
    summary: 'Delete a webhook endpoint',
    scope: 'admin',
    response: null,
  },
  rotate: {
    at: 'POST /v1/webhooks/endpoints/{endpointId}/rotate',
    summary: 'Replace the secret of a webhook endpoint',
    scope: 'admin',
    response: NewEndpoint,
    status: 200,
    secret: 'secret',
  },
  test: {
    at: 'POST /v1/webhooks/endpoints/{endpointId}/test',
    summary: 'Send a test event to a webhook endpoint',
    scope: 'admin',
    response: Message,
    status: 200,
  },
})

function isPlain({ username, password, hash }: URL): boolean {
  return username === '' && password === '' && hash === ''
}
