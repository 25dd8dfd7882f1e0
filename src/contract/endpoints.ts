import * as z from 'zod'
import { eventPatterns } from './events.ts'
import { choices, Instant, optional, period, Time, UpdatedSince, WebAddress } from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { Message } from './messages.ts'
import { admins, operation } from './operation.ts'
import { page, paging } from './page.ts'
import { patchOf } from './patch.ts'

const endpointStatuses = ['active', 'disabled'] as const
export const EndpointStatus = z.enum(endpointStatuses)

/** Whoever reads the list could read a password in the address, and a fragment is never sent. */
const EndpointUrl = WebAddress.refine((address) => !URL.canParse(address) || isPlain(new URL(address)), {
  params: { code: 'invalid_url' },
  error: 'must not contain a user name, a password or a fragment',
})

export const EndpointInput = z.strictObject({
  url: EndpointUrl,
  events: z.array(z.enum(eventPatterns)).min(1).max(eventPatterns.length).default(['*']),
  description: z.string().trim().max(255).default(''),
  status: EndpointStatus.default('active'),
  expiresAt: optional(Instant),
})
export type EndpointInput = z.output<typeof EndpointInput>

export const EndpointPatch = patchOf(EndpointInput)

export const Endpoint = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string(),
  status: EndpointStatus,
  disabledReason: z.enum(['gone']).nullable(),
  expiresAt: Time.nullable(),
  pausedUntil: Time.nullable(),
  previousSecretUntil: Time.nullable(),
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
})
export type Endpoint = z.output<typeof Endpoint>

/** The responses that make a secret: the only ones with it. */
export const NewEndpoint = Endpoint.extend({ secret: z.string().nullable() })
export type NewEndpoint = z.output<typeof NewEndpoint>

/** Where events are sent, for admins. */
export const endpoints = {
  list: operation({
    id: 'endpoints.list',
    method: 'GET',
    path: '/v1/webhooks/endpoints',
    summary: 'List webhook endpoints',
    published: false,
    scope: 'admin',
    roles: admins,
    query: z.strictObject({
      status: choices(endpointStatuses).optional(),
      ...period('Created'),
      updated_since: UpdatedSince,
      ...paging,
    }),
    response: page(Endpoint),
    status: 200,
    list: true,
    filters: {
      status: { by: 'choice', field: 'status', choices: endpointStatuses },
      ...inPeriod('createdAt'),
      updated_since: updatedSince,
    },
  }),
  get: operation({
    id: 'endpoints.get',
    method: 'GET',
    path: '/v1/webhooks/endpoints/{endpointId}',
    summary: 'Show a webhook endpoint',
    published: false,
    scope: 'admin',
    roles: admins,
    response: Endpoint,
    status: 200,
  }),
  create: operation({
    id: 'endpoints.create',
    method: 'POST',
    path: '/v1/webhooks/endpoints',
    summary: 'Create a webhook endpoint',
    published: false,
    scope: 'admin',
    roles: admins,
    body: EndpointInput,
    response: NewEndpoint,
    status: 201,
    secret: 'secret',
  }),
  update: operation({
    id: 'endpoints.update',
    method: 'PUT',
    path: '/v1/webhooks/endpoints/{endpointId}',
    summary: 'Update a webhook endpoint',
    published: false,
    scope: 'admin',
    roles: admins,
    body: EndpointPatch,
    merge: true,
    response: Endpoint,
    status: 200,
  }),
  delete: operation({
    id: 'endpoints.delete',
    method: 'DELETE',
    path: '/v1/webhooks/endpoints/{endpointId}',
    summary: 'Delete a webhook endpoint',
    published: false,
    scope: 'admin',
    roles: admins,
    response: null,
    status: 204,
  }),
  rotate: operation({
    id: 'endpoints.rotate',
    method: 'POST',
    path: '/v1/webhooks/endpoints/{endpointId}/rotate',
    summary: 'Replace the secret of a webhook endpoint',
    published: false,
    scope: 'admin',
    roles: admins,
    response: NewEndpoint,
    status: 200,
    secret: 'secret',
  }),
  test: operation({
    id: 'endpoints.test',
    method: 'POST',
    path: '/v1/webhooks/endpoints/{endpointId}/test',
    summary: 'Send a test event to a webhook endpoint',
    published: false,
    scope: 'admin',
    roles: admins,
    response: Message,
    status: 200,
  }),
}

function isPlain({ username, password, hash }: URL): boolean {
  return username === '' && password === '' && hash === ''
}
