import * as z from 'zod'
import { scopes } from './constants.ts'
import { field, named, shown } from './fields.ts'
import { filtering, listOf, ofUser, paging, period } from './lists.ts'
import { everyone, operationsOf } from './operation.ts'
import { timeOrNull } from './record-fields.ts'
import { Time } from './values.ts'

export const Grant = named(
  'Grant',
  'The access that a user has given to an OAuth application',
  shown(() => ({
    id: field(z.string(), 'Id of the grant'),
    userId: field(z.string(), 'Id of the user who gave access'),
    clientId: field(z.string(), 'Client id of the application'),
    clientName: field(z.string(), 'Name of the application'),
    scopes: field(z.array(z.enum(scopes)), 'What the application can do on behalf of the user'),
    createdAt: field(Time, 'When access was given'),
    lastUsedAt: timeOrNull('When the access was last used; null if never'),
    expiresAt: field(Time, 'When the access ends unless it is used'),
  })),
)
export type Grant = z.output<typeof Grant>

/** Users see their own, admins all. */
export const grants = operationsOf('grants', {
  list: {
    at: 'GET /v1/grants',
    summary: 'List the OAuth applications that act on your behalf',
    roles: everyone,
    query: z.strictObject({
      user_id: filtering(
        ofUser.meta({ description: 'User whose grants are listed (default you); others require an admin' }),
        { by: 'reference', field: 'userId', to: 'userId' },
      ),
      ...period('Granted', 'createdAt'),
      ...paging,
    }),
    ...listOf(Grant, 'grants'),
  },
  revoke: {
    at: 'DELETE /v1/grants/{grantId}',
    summary: 'Revoke a grant',
    roles: everyone,
    response: null,
  },
})
