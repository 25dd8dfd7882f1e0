import * as z from 'zod'
import { scopes } from './constants.ts'
import { answered, field, named, sent, shown } from './fields.ts'
import { listOf, ofUser, paging, period } from './lists.ts'
import { operationsOf } from './operation.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { Instant, Reference, Time, text } from './values.ts'

const attributes = {
  name: field(
    text(1, 255),
    'What the key is for, such as nightly export',
    'Name, such as the program that uses the key',
  ),
  userId: field(
    Reference.optional(),
    'Owner: id, ext:<externalId> or email:<address>; the key acts as this user (default you)',
    'Owner: id, external id or e-mail address',
  ),
  scopes: field(
    z.array(z.enum(scopes)).min(1).max(3).default(['read']),
    'What the key can do, within the role of its owner',
    'Scopes',
  ),
  expiresAt: field(
    Instant.nullable().optional(),
    'When the key expires, null for never (default one year after it is created)',
    'Expiry: a time, a day (at its start), a duration such as 90d, or never',
  ),
}

export const KeyInput = named('KeyInput', 'The attributes of a new API key', sent(attributes))
export type KeyInput = z.output<typeof KeyInput>

function shownFields() {
  const { name, userId, scopes } = answered(attributes)
  return {
    id: field(z.string(), 'Id of the key, key_…'),
    userId: { ...userId, says: 'Id of the owner: the key acts as this user' },
    userEmail: field(z.string(), 'E-mail address of the owner as it is now'),
    name,
    prefix: field(z.string(), 'First characters of the key'),
    last4: field(z.string(), 'Last characters of the key'),
    scopes,
    expiresAt: timeOrNull('When the key expires; null for never'),
    createdAt: field(Time, 'When the key was created'),
    lastUsedAt: timeOrNull('When the key was last used, to the minute; null if never'),
    revokedAt: timeOrNull('When the key was revoked; null if it was not'),
  }
}

export const Key = named('Key', 'An API key, without the key itself', shown(shownFields))
export type Key = z.output<typeof Key>

/** The only response with the key itself. */
export const NewKey = named(
  'NewKey',
  'A new API key, with the key itself',
  shown(() => ({
    ...shownFields(),
    key: textOrNull('The API key. Shown only once: null in a replayed response'),
  })),
)
export type NewKey = z.output<typeof NewKey>

export const keys = operationsOf('keys', {
  list: {
    at: 'GET /v1/keys',
    summary: 'List API keys',
    scope: 'admin',
    query: z.strictObject({ user_id: ofUser, ...period('Created', 'createdAt'), ...paging }),
    ...listOf(Key, 'API keys'),
  },
  create: {
    at: 'POST /v1/keys',
    summary: 'Create an API key',
    scope: 'admin',
    body: KeyInput,
    response: NewKey,
    secret: 'key',
  },
  revoke: {
    at: 'DELETE /v1/keys/{keyId}',
    summary: 'Revoke an API key',
    scope: 'admin',
    response: null,
  },
})
