import sql, { join, type Sql } from 'sql-template-tag'
import { type groups, type Membership, MembershipInput } from '../../contract/groups.ts'
import { seenOnly, visibleGroups, visibleMemberships, visibleUsers } from '../access/sight.ts'
import { recordChange } from '../changes/change.ts'
import type { Row } from '../database/database.ts'
import { during, type Page } from '../database/keyset.ts'
import { type Found, page, usualBounds } from '../database/page.ts'
import { matchesReference, referenceFilter } from '../database/reference.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import type { Call, Handler } from '../http/handler.ts'
import { parseBody } from '../http/validation.ts'
import { notFound, ProblemError, parentNotFound } from '../problem-error.ts'
import {
  findGroup,
  findOwnGroup,
  groupIdsOf,
  limitedBounds,
  type MembershipRow,
  membershipColumns,
  requireMayChange,
  toMembership,
} from './group-row.ts'

type Operations = typeof groups

/** `groups.members` */
export const listMembers: Handler<Operations['members']> = async (call) => {
  const { id, courseId } = await findGroup(call, call.params.groupId)
  // Those who see a course see all members of its groups.
  const isWhole = courseId !== null && call.principal.sees !== 'own'
  return pageOf(call, [id], isWhole ? undefined : visibleMemberships(call))
}

/** `groups.memberships` */
export const listMemberships: Handler<Operations['memberships']> = async (call) => {
  const { group_id: list } = call.query
  const groupIds = list === undefined ? undefined : await groupIdsOf(call, list)
  return pageOf(call, groupIds, visibleMemberships(call))
}

const order = { addedAt: sql`m.added_at` }
/** Most users are not deleted; the others are members again once they are restored. */
const isThere = sql`(select status from users where id = m.user_id) <> 'deleted'`

/** Reads a page of memberships, of these groups or all. */
async function pageOf(
  call: Call<Operations['members'] | Operations['memberships']>,
  groupIds: readonly string[] | undefined,
  visible: Sql | Found | undefined,
): Promise<Page<Membership>> {
  const { database, query } = call
  const users = visibleUsers(call)
  const user = await referenceFilter(sql`m.user_id`, database, 'users', query.user_id, 'user_id', users)
  const [groupId] = groupIds ?? []
  const isOne = groupIds?.length === 1
  return page<MembershipRow, Membership>(
    database,
    {
      columns: membershipColumns,
      from: sql`group_members m`,
      where: [isThere],
      narrow: [
        visible,
        user.one ?? user.several,
        !isOne && groupIds && sql`m.group_id in (${join(groupIds)})`,
      ],
      within: [
        { field: 'addedAt', condition: isOne && sql`m.group_id = ${groupId}` },
        { field: 'addedAt', condition: during(order.addedAt, query) },
      ],
    },
    { sort: query.sort, expressions: order, id: sql`m.id` },
    query,
    toMembership,
    visible ? limitedBounds : usualBounds,
  )
}

/** `groups.addMember` */
export const addMember: Handler<Operations['addMember']> = async (call) => {
  const { params } = call
  const { id: groupId } = await findOwnGroup(call, params.groupId)
  const names = await namesOf(call, { groupId, userId: params.userId })
  return (await findMembership(call, names)) ?? storeMembership(call, names)
}

/** `groups.batchMembers` */
export const addMembers: Handler<Operations['batchMembers']> = (call) => {
  const { items, onExists } = readBatch(call.rawBody, 'skip')
  return runBatch(call, items, async (item) => {
    const names = await namesOf(item, parseBody(MembershipInput, item.rawBody))
    const before = await findMembership(item, names)
    if (before && onExists === 'fail') {
      const detail = `User ${before.userEmail} is already in group ${before.groupName}: ${before.id}.`
      throw new ProblemError('duplicate', detail, { members: { id: before.id } })
    }
    // A membership has nothing to update.
    const unchanged = before && { id: before.id, version: 1 }
    return upsert(
      onExists,
      unchanged,
      () => storeMembership(item, names),
      async () => ({ version: 1 }),
    )
  })
}

/** `groups.removeMember` */
export const removeMember: Handler<Operations['removeMember']> = async (call) => {
  const { params, database } = call
  const { id: groupId } = await findOwnGroup(call, params.groupId)
  const row = await database.one<MembershipRow>(sql`
    select ${membershipColumns} from group_members m
    where m.group_id = ${groupId} and m.user_id = (select id from users where ${matchesReference('users', params.userId)})`)
  if (!row) throw notFound('member', params.userId)
  const membership = toMembership(row)
  const { id } = membership
  await database.run(sql`delete from group_members where id = ${id}`)
  await recordChange(call, { action: 'membership.deleted', id, before: membership, after: null })
  return undefined
}

/** The fields of a membership that come from its group and user. */
type Names = Omit<Membership, 'id' | 'addedAt'>

interface Named extends Row {
  readonly id: string
  readonly name: string
  readonly external_id: string | null
}

/** Finds the group and the user of a membership; throws 404 that points to the unknown one. */
async function namesOf(call: Call, { groupId, userId }: MembershipInput): Promise<Names> {
  const { database } = call
  const isGroup = seenOnly(matchesReference('groups', groupId), visibleGroups(call))
  const isUser = seenOnly(matchesReference('users', userId), visibleUsers(call))
  const [group, user] = await Promise.all([
    database.one<Named & { course_id: string | null }>(
      sql`select id, name, external_id, course_id from groups where ${isGroup}`,
    ),
    database.one<Named>(
      sql`select id, email as name, external_id from users where ${isUser} and status <> 'deleted'`,
    ),
  ])
  if (!group) throw parentNotFound('#/groupId', 'group', groupId)
  requireMayChange(call, { name: group.name, courseId: group.course_id })
  if (!user) throw parentNotFound('#/userId', 'user', userId)
  return {
    groupId: group.id,
    groupName: group.name,
    groupExternalId: group.external_id,
    userId: user.id,
    userEmail: user.name,
    userExternalId: user.external_id,
  }
}

async function findMembership({ database }: Call, names: Names): Promise<Membership | undefined> {
  const row = await database.one<Row & { id: string; added_at: string }>(sql`
    select id, added_at from group_members where group_id = ${names.groupId} and user_id = ${names.userId}`)
  return row && { id: row.id, ...names, addedAt: row.added_at }
}

async function storeMembership(call: Call, names: Names): Promise<Membership> {
  const { now } = call
  const id = call.newId('mem')
  call.database.queue(sql`
    insert into group_members (id, group_id, user_id, added_at)
    values (${id}, ${names.groupId}, ${names.userId}, ${now})`)
  const membership = { id, ...names, addedAt: now }
  await recordChange(call, { action: 'membership.created', id, before: null, after: membership })
  return membership
}
