import sql, { join, type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { roles, userStatuses } from '../../contract/constants.ts'
import type { users } from '../../contract/users.ts'
import { participants, visibleUsers } from '../access/sight.ts'
import { during, page } from '../database/page.ts'
import { findMatches } from '../database/search.ts'
import { ofMembers } from '../groups/group-row.ts'
import { type Call, plainRoutesOf, type Reads } from '../http/handler.ts'
import { findVisibleUser, toUser, userColumns } from './user-row.ts'

const order = { createdAt: sql`u.created_at`, updatedAt: sql`u.updated_at`, email: sql`u.email` }

export const userReads = {
  async list(call) {
    const { query, database } = call
    const deleted = query.include_deleted || query.status?.includes('deleted')
    return page(
      database,
      {
        columns: userColumns,
        from: sql`users u`,
        by: [
          visibleInList(call),
          query.email && sql`u.email_key = ${query.email.toLowerCase()}`,
          query.external_id && sql`u.external_id = ${query.external_id}`,
        ],
        where: [!deleted && sql`u.status <> 'deleted'`],
        narrow: [
          query.managed_by && sql`u.managed_by = ${query.managed_by}`,
          isStanding(query),
          await ofMembers(
            call,
            query.group_id,
            sql`u.id`,
            (isIn) => sql`select m.user_id from group_members m where ${isIn}`,
          ),
          query.q && findMatches(database, 'users', sql`u.search_key`, query.q),
        ],
        within: [
          { field: 'createdAt', condition: during(order.createdAt, query) },
          {
            field: 'updatedAt',
            condition: during(sql`u.updated_at`, { since: query.updated_since }),
          },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`u.id` },
      query,
      toUser,
    )
  },

  get: (call) => findVisibleUser(call, call.params.userId),
} satisfies Reads<typeof users>

export const plainUserRoutes = plainRoutesOf<typeof users>(calls.users, userReads)

function visibleInList(call: Call): Sql | undefined {
  return call.principal.sees === 'taught' ? sql`u.id in (${participants(call)})` : visibleUsers(call, 'u')
}

/**
 * Returns the condition for roles and statuses. If only one is given, it lists all values of the other, so
 * that the index is used.
 */
function isStanding({ role, status }: Call<typeof users.list>['query']): Sql | undefined {
  if (role === undefined && status === undefined) return undefined
  return sql`u.role in (${join(role ?? roles)}) and u.status in (${join(status ?? userStatuses)})`
}
