import sql, { type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { type Grant, grants } from '../../contract/grants.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import { type Call, requireAdmin } from '../http/handler.ts'
import { routesOf } from '../http/schema-routes.ts'
import { notFound } from '../problem-error.ts'

/** Per user. */
const maxLive = 50

const columns = sql`g.id, g.user_id, g.client_id, c.name as client_name, g.scopes, g.created_at, g.last_used_at, g.expires_at`
const from = sql`grants g join oauth_clients c on c.id = g.client_id`

const toGrant = recordReader<Grant>(calls.grants.list, ['scopes'])

export const grantRoutes = routesOf(grants, {
  list: async (call) =>
    page<Row, Grant>(
      call.database,
      {
        columns,
        from,
        within: [
          { field: 'createdAt', condition: sql`g.user_id = ${await userOf(call)}` },
          { field: 'createdAt', condition: during(sql`g.created_at`, call.query) },
        ],
        where: [isLive(call.now)],
      },
      { sort: '-createdAt', expressions: { createdAt: sql`g.created_at` }, id: sql`g.id` },
      call.query,
      toGrant,
    ),

  async revoke(call) {
    const { params, principal } = call
    // Only an admin's credential can have this scope.
    const ownerId = principal.scopes.includes('admin') ? undefined : principal.userId
    await revokeGrant(call, params.grantId, ownerId)
    return undefined
  },
})

/** A grant that has ended stays unchanged. Throws 404, also for a grant of another user than `ownerId`, if given. */
export async function revokeGrant(call: Writing, grantId: string, ownerId?: string): Promise<void> {
  const { database, now } = call
  const row = await database.one<Row & { user_id: string; revoked_at: string | null }>(
    sql`select ${columns}, g.revoked_at from ${from} where g.id = ${grantId}`,
  )
  if (!row || (ownerId !== undefined && row.user_id !== ownerId)) throw notFound('grant', grantId)
  if (row.revoked_at !== null) return
  await database.run(sql`update grants set revoked_at = ${now} where id = ${grantId} and revoked_at is null`)
  const before = { ...toGrant(row), revokedAt: null }
  await recordChange(call, {
    action: 'grant.revoked',
    id: grantId,
    before,
    after: { ...before, revokedAt: now },
  })
}

/**
 * Revokes the least recently used grant of a user with the maximum. Refusing the sign-in would lock out a user without
 * another way to revoke one.
 */
export async function makeRoomForGrant(call: Writing, userId: string): Promise<void> {
  // An academy of an earlier version may exceed the maximum; the grants that expire first come first.
  const live = await call.database.all<Row & { id: string; used_at: string }>(sql`
    select g.id, coalesce(g.last_used_at, g.created_at) as used_at from grants g
    where g.user_id = ${userId} and ${isLive(call.now)} order by g.expires_at limit ${2 * maxLive}`)
  const byUse = live.toSorted((one, other) => (one.used_at < other.used_at ? -1 : 1))
  for (const { id } of byUse.slice(0, Math.max(0, live.length - maxLive + 1))) await revokeGrant(call, id)
}

/** Throws 403 for another user, existing or not, unless the caller is an admin. */
async function userOf({ database, query, principal }: Call<typeof grants.list>): Promise<string> {
  const { user_id: reference } = query
  if (reference === undefined) return principal.userId
  if ((await resolve(database, 'users', reference)) === principal.userId) return principal.userId
  requireAdmin({ principal }, "Listing another user's grants")
  return resolveFilter(database, 'users', reference, 'user_id')
}

function isLive(now: string): Sql {
  return sql`g.revoked_at is null and g.expires_at > ${now}`
}
