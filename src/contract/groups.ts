import * as z from 'zod'
import { batchOf } from './batch.ts'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import {
  erase,
  exactly,
  filtering,
  listOf,
  ofAny,
  ofCourse,
  ofCourses,
  ofGroups,
  ofUsersOrEmails,
  paging,
  period,
  periodAndUpdates,
  search,
  sorting,
  trashSort,
} from './lists.ts'
import { everyone, operationsOf, teachers } from './operation.ts'
import {
  changed,
  deletedFields,
  externalId,
  managedBy,
  takenExternalId,
  textOrNull,
} from './record-fields.ts'
import { optional, Reference, Time, text } from './values.ts'

const attributes = {
  externalId: externalId('group'),
  name: field(text(1, 255), 'Name of the group', 'Name'),
  courseId: field(
    optional(Reference),
    'Course that the group belongs to: id or ext:<externalId>; null for a group of the whole academy; responses have the id',
    'Course: id or external id (default none)',
  ),
  managedBy,
}

export const GroupInput = named(
  'GroupInput',
  'The attributes of a group. Only `name` is required',
  sent(attributes),
)
export type GroupInput = z.output<typeof GroupInput>

export const GroupPatch = named(
  'GroupPatch',
  'A merge patch of a group (RFC 7396): absent attributes are left unchanged, null resets one to its default',
  patchOf(GroupInput),
)

export const Group = named(
  'Group',
  'A group of users: a class, a section of a course, or a cohort',
  shown(() => {
    const { externalId, name, courseId, managedBy } = answered(attributes)
    return {
      id: field(z.string(), 'Id of the group, grp_…'),
      externalId,
      name,
      courseId,
      courseTitle: textOrNull('Title of the course as it is now; null without a course'),
      courseExternalId: textOrNull('The school’s own id of the course, as it is now'),
      managedBy,
      ...changed,
    }
  }),
)
export type Group = z.output<typeof Group>

/** It can be restored. */
export const DeletedGroup = named(
  'DeletedGroup',
  'A deleted group',
  shown(() => {
    const { externalId, name, courseId } = answered(attributes)
    return {
      id: field(z.string(), 'Id of the group'),
      externalId: takenExternalId(externalId, 'group'),
      name,
      courseId: { ...courseId, says: 'Course that the group belongs to; null for none' },
      members: field(z.int(), 'Number of members that the group had'),
      ...deletedFields,
    }
  }),
)
export type DeletedGroup = z.output<typeof DeletedGroup>

const membershipAttributes = {
  groupId: field(
    Reference,
    'Group: id, ext:<externalId> or a name that no other group has; responses have the id',
    'Group: id or external id',
  ),
  userId: field(
    Reference,
    'User: id, ext:<externalId> or email:<address>; responses have the id',
    'User: id, external id or e-mail address',
  ),
}

export const MembershipInput = named('MembershipInput', 'A user in a group', sent(membershipAttributes))
export type MembershipInput = z.output<typeof MembershipInput>

export const Membership = named(
  'Membership',
  'A user in a group. There is at most one for each group and user',
  shown(() => {
    const { groupId, userId } = answered(membershipAttributes)
    return {
      id: field(z.string(), 'Id of the membership, mem_…'),
      groupId,
      groupName: field(z.string(), 'Name of the group as it is now'),
      groupExternalId: textOrNull('The school’s own id of the group, as it is now'),
      userId,
      userEmail: field(z.string(), 'E-mail address of the user as it is now'),
      userExternalId: textOrNull('The school’s own id of the user, as it is now'),
      addedAt: field(Time, 'When the user was added'),
    }
  }),
)
export type Membership = z.output<typeof Membership>

const membershipSort = sorting(['addedAt'], 'addedAt')
const memberships = listOf(Membership, 'memberships')

export const groups = operationsOf('groups', {
  list: {
    at: 'GET /v1/groups',
    summary: 'List groups',
    roles: everyone,
    query: z.strictObject({
      course_id: ofCourses,
      user_id: filtering(ofAny('member: comma-separated list of ids, ext:<externalId> or email:<address>'), {
        by: 'reference',
        field: 'userId',
        to: 'userId',
        several: true,
        hidden: true,
      }),
      q: search('the name', ['name']),
      external_id: exactly('external id', 'externalId'),
      managed_by: exactly('managing system', 'managedBy'),
      ...periodAndUpdates('Created', 'createdAt'),
      sort: sorting(['createdAt', 'updatedAt', 'name'], '-createdAt'),
      ...paging,
    }),
    ...listOf(Group, 'groups'),
  },
  get: {
    at: 'GET /v1/groups/{groupId}',
    summary: 'Show a group',
    roles: everyone,
    response: Group,
  },
  create: {
    at: 'POST /v1/groups',
    summary: 'Create a group',
    roles: teachers,
    body: GroupInput,
    response: Group,
  },
  batch: {
    at: 'POST /v1/groups/batch',
    summary: 'Create or update up to 1,000 groups',
    roles: teachers,
    ...batchOf(GroupInput, 'fail', 'GroupBatch'),
  },
  update: {
    at: 'PUT /v1/groups/{groupId}',
    summary: 'Update a group',
    roles: teachers,
    body: GroupPatch,
    merge: true,
    response: Group,
  },
  delete: {
    at: 'DELETE /v1/groups/{groupId}',
    summary: 'Delete a group',
    roles: teachers,
    query: z.strictObject({ erase }),
    elevatedBy: ['erase'],
    response: null,
  },
  listDeleted: {
    at: 'GET /v1/deleted-groups',
    summary: 'List deleted groups that can be restored',
    roles: teachers,
    query: z.strictObject({
      course_id: ofCourse,
      ...period('Deleted', 'deletedAt'),
      sort: trashSort,
      ...paging,
    }),
    ...listOf(DeletedGroup, 'deleted groups'),
  },
  restoreDeleted: {
    at: 'POST /v1/deleted-groups/{deletedGroupId}/restore',
    summary: 'Restore a deleted group with its members',
    roles: teachers,
    response: Group,
    status: 200,
  },
  members: {
    at: 'GET /v1/groups/{groupId}/members',
    summary: 'List the members of a group',
    roles: everyone,
    query: z.strictObject({
      user_id: ofUsersOrEmails,
      ...period('Added', 'addedAt'),
      sort: membershipSort,
      ...paging,
    }),
    ...memberships,
  },
  addMember: {
    at: 'PUT /v1/groups/{groupId}/members/{userId}',
    summary: 'Add a user to a group',
    roles: teachers,
    response: Membership,
  },
  removeMember: {
    at: 'DELETE /v1/groups/{groupId}/members/{userId}',
    summary: 'Remove a user from a group',
    roles: teachers,
    response: null,
  },
  memberships: {
    at: 'GET /v1/memberships',
    summary: 'List the members of all groups',
    roles: everyone,
    query: z.strictObject({
      group_id: ofGroups,
      user_id: ofUsersOrEmails,
      ...period('Added', 'addedAt'),
      sort: membershipSort,
      ...paging,
    }),
    ...memberships,
  },
  batchMembers: {
    at: 'POST /v1/memberships/batch',
    summary: 'Add up to 1,000 users to groups',
    roles: teachers,
    ...batchOf(MembershipInput, 'skip', 'MembershipBatch'),
  },
})
