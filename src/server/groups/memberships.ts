import sql, { type Sql } from 'sql-template-tag'
import { type groups, type Membership, MembershipInput } from '../../contract/groups.ts'
import { seenOnly, visibleGroups, visibleMemberships, visibleUsers } from '../access/sight.ts'
import { recordChange } from '../changes/change.ts'
import type { Row } from '../database/database.ts'
import { during, type Page, page } from '../database/page.ts'
import { matchesReference, referenceFilter } from '../database/reference.ts'
import { readBatch, runBatch } from '../http/batch.ts'
import type { Call, Handler } from '../http/handler.ts'
import { parseBody } from '../http/schema-routes.ts'
import { notFound, ProblemError, parentNotFound } from '../problem-error.ts'
import {
  findGroup,
  findOwnGroup,
  groupIdsOf,
  isInGroups,
  membershipColumns,
  requireMayChange,
  toMembership,
} from './group-row.ts'

type Operations = typeof groups

export const listMembers: Handler<Operations['members']> = async (call) => {
  const { id, courseId } = await findGroup(call, call.params.groupId)
  // Those who see a course see all members of its groups.
  const isWhole = courseId !== null && call.principal.sees !== 'own'
  return pageOf(call, [id], isWhole ? undefined : visibleMemberships(call))
}

export const listMemberships: Handler<Operations['memberships']> = async (call) => {
  const { group_id: list } = call.query
  const groupIds = list === undefined ? undefined : await groupIdsOf(call, list)
  return pageOf(call, groupIds, visibleMemberships(call))
}

/** Ids sort by the time at which a member was added. */
const order = { addedAt: sql`m.id` }
/** Most users are not deleted; the others are members again once they are restored. */
const isThere = sql`(select status from users where id = m.user_id) <> 'deleted'`

async function pageOf(
  call: Call<Operations['members'] | Operations['memberships']>,
  groupIds: readonly string[] | undefined,
  visible: Sql | undefined,
): Promise<Page<Membership>> {
  const { database, query } = call
  const users = visibleUsers(call)
  const user = await referenceFilter(sql`m.user_id`, database, 'users', query.user_id, 'user_id', users)
  const isIn = groupIds && isInGroups(groupIds)
  return page(
    database,
    {
      columns: membershipColumns,
      from: sql`group_members m`,
      where: [isThere, during(sql`m.added_at`, query)],
      by: [visible, user, isIn],
    },
    { sort: query.sort, expressions: order, id: sql`m.id` },
    query,
    toMembership,
  )
}

export const addMember: Handler<Operations['addMember']> = async (call) => {
  const { params } = call
  const { id, name, externalId } = await findOwnGroup(call, params.groupId)
  const group = { groupId: id, groupName: name, groupExternalId: externalId }
  return (await storeMembership(call, group, await userOf(call, params.userId))).membership
}

export const addMembers: Handler<Operations['batchMembers']> = (call) => {
  const { items, onExists } = readBatch(call.rawBody, 'skip')
  const groups = new Map<string, GroupNames>()
  return runBatch(call, items, async (item) => {
    const { groupId, userId } = parseBody(MembershipInput, item.rawBody)
    const group = groups.get(groupId) ?? (await groupOf(item, groupId))
    groups.set(groupId, group)
    const { membership, created } = await storeMembership(item, group, await userOf(item, userId))
    const { id, userEmail, groupName } = membership
    if (created) return { id, created }
    if (onExists === 'fail') {
      const detail = `User ${userEmail} is already in group ${groupName}: ${id}.`
      throw new ProblemError('duplicate', detail, { members: { id } })
    }
    // A membership has nothing to update.
    return { id, created, code: onExists === 'skip' ? 'skipped' : 'unchanged' }
  })
}

export const removeMember: Handler<Operations['removeMember']> = async (call) => {
  const { params, database } = call
  const { id: groupId } = await findOwnGroup(call, params.groupId)
  const row = await database.one(sql`
    select ${membershipColumns} from group_members m
    where m.group_id = ${groupId} and m.user_id = (select id from users where ${matchesReference('users', params.userId)})`)
  if (!row) throw notFound('member', params.userId)
  const membership = toMembership(row)
  const { id } = membership
  await database.run(sql`delete from group_members where id = ${id}`)
  await recordChange(call, { action: 'membership.deleted', id, before: membership, after: null })
  return undefined
}

type GroupNames = Pick<Membership, 'groupId' | 'groupName' | 'groupExternalId'>
type UserNames = Pick<Membership, 'userId' | 'userEmail' | 'userExternalId'>

interface Named extends Row {
  readonly id: string
  readonly name: string
  readonly external_id: string | null
}

/** Throws 404 that points to an unknown one, 403 if the caller may not change it. */
async function groupOf(call: Call, reference: string): Promise<GroupNames> {
  const visible = visibleGroups(call)
  const isGroup = seenOnly(matchesReference('groups', reference, { visible }), visible)
  const group = await call.database.one<Named & { course_id: string | null }>(
    sql`select id, name, external_id, course_id from groups where ${isGroup}`,
  )
  if (!group) throw parentNotFound('#/groupId', 'group', reference)
  requireMayChange(call, { name: group.name, courseId: group.course_id })
  return { groupId: group.id, groupName: group.name, groupExternalId: group.external_id }
}

/** Throws 404 that points to an unknown one. */
async function userOf(call: Call, reference: string): Promise<UserNames> {
  const isUser = seenOnly(matchesReference('users', reference), visibleUsers(call))
  const user = await call.database.one<Named>(
    sql`select id, email as name, external_id from users where ${isUser} and status <> 'deleted'`,
  )
  if (!user) throw parentNotFound('#/userId', 'user', reference)
  return { userId: user.id, userEmail: user.name, userExternalId: user.external_id }
}

async function storeMembership(
  call: Call,
  group: GroupNames,
  user: UserNames,
): Promise<{ readonly membership: Membership; readonly created: boolean }> {
  const { database, now } = call
  const { groupId } = group
  const { userId } = user
  const id = call.newId('mem')
  const written = await database.run(sql`
    insert into group_members (id, group_id, user_id, added_at) values (${id}, ${groupId}, ${userId}, ${now})
    on conflict (group_id, user_id) do nothing`)
  if (written === 0) {
    const row = await database.one<Row & { id: string; added_at: string }>(
      sql`select id, added_at from group_members where group_id = ${groupId} and user_id = ${userId}`,
    )
    if (!row) throw new Error(`Membership of user ${userId} in group ${groupId} was not stored`)
    const membership = { id: row.id, ...group, ...user, addedAt: row.added_at }
    return { membership, created: false }
  }
  const membership = { id, ...group, ...user, addedAt: now }
  await recordChange(call, { action: 'membership.created', id, before: null, after: membership })
  return { membership, created: true }
}
