import * as z from 'zod'
import { period, Reference, Time } from './field.ts'
import { inPeriod } from './filter.ts'
import { scopes } from './keys.ts'
import { everyone, operation } from './operation.ts'
import { page, paging } from './page.ts'

/** What a user has allowed an OAuth application to do, and the family of tokens that came of it. */
export const Grant = z.object({
  id: z.string(),
  userId: z.string(),
  clientId: z.string(),
  clientName: z.string(),
  scopes: z.array(z.enum(scopes)),
  createdAt: Time,
  lastUsedAt: Time.nullable(),
  expiresAt: Time,
})
export type Grant = z.output<typeof Grant>

/** Grants: one's own, and for admins those of others. */
export const grants = {
  list: operation({
    id: 'grants.list',
    method: 'GET',
    path: '/v1/grants',
    summary: 'List the OAuth applications that act on your behalf',
    published: false,
    scope: 'read',
    roles: everyone,
    query: z.strictObject({
      user_id: Reference.optional().meta({
        description: 'User whose grants are listed (default you); others require an admin',
      }),
      ...period('Granted'),
      ...paging,
    }),
    response: page(Grant),
    status: 200,
    list: true,
    filters: {
      user_id: { by: 'reference', field: 'userId', to: 'userId' },
      ...inPeriod('createdAt'),
    },
  }),
  revoke: operation({
    id: 'grants.revoke',
    method: 'DELETE',
    path: '/v1/grants/{grantId}',
    summary: 'Revoke a grant',
    published: false,
    scope: 'write',
    roles: everyone,
    response: null,
    status: 204,
  }),
}
