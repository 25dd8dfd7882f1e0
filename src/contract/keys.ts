import * as z from 'zod'
import { Instant, ofUser, period, Reference, Time, text } from './field.ts'
import { inPeriod } from './filter.ts'
import { admins, operation } from './operation.ts'
import { page, paging } from './page.ts'

export const scopes = ['read', 'write', 'admin'] as const

export const KeyInput = z.strictObject({
  name: text(1, 255),
  userId: Reference.optional(),
  scopes: z.array(z.enum(scopes)).min(1).max(3).default(['read']),
  expiresAt: Instant.nullable().optional(),
})
export type KeyInput = z.output<typeof KeyInput>

export const Key = z.object({
  id: z.string(),
  userId: z.string(),
  userEmail: z.string(),
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  scopes: z.array(z.enum(scopes)),
  expiresAt: Time.nullable(),
  createdAt: Time,
  lastUsedAt: Time.nullable(),
  revokedAt: Time.nullable(),
})
export type Key = z.output<typeof Key>

/** The response that creates an API key: the only one with its text. */
export const NewKey = Key.extend({
  key: z.string().nullable(),
})
export type NewKey = z.output<typeof NewKey>

/** API keys, for admins. */
export const keys = {
  list: operation({
    id: 'keys.list',
    method: 'GET',
    path: '/v1/keys',
    summary: 'List API keys',
    published: false,
    scope: 'admin',
    roles: admins,
    query: z.strictObject({ user_id: ofUser, ...period('Created'), ...paging }),
    response: page(Key),
    status: 200,
    list: true,
    filters: {
      user_id: { by: 'reference', field: 'userId', to: 'userId' },
      ...inPeriod('createdAt'),
    },
  }),
  create: operation({
    id: 'keys.create',
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create an API key',
    published: false,
    scope: 'admin',
    roles: admins,
    body: KeyInput,
    response: NewKey,
    status: 201,
    secret: 'key',
  }),
  revoke: operation({
    id: 'keys.revoke',
    method: 'DELETE',
    path: '/v1/keys/{keyId}',
    summary: 'Revoke an API key',
    published: false,
    scope: 'admin',
    roles: admins,
    response: null,
    status: 204,
  }),
}
