import type { JsonObject } from '../../codec/json-text.ts'
import { escapeReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import { EnrollmentInput } from '../../contract/enrollments.ts'
import { GroupInput, MembershipInput } from '../../contract/groups.ts'
import { UserInput } from '../../contract/users.ts'
import { optional, Reference } from '../../contract/values.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import {
  byExternalId,
  courseKeyIn,
  externalKeyOf,
  ofFields,
  paramsOf,
  userKeyIn,
  withoutOwnId,
} from './names.ts'

/** Users, matched by external id, else by e-mail address. */
export const users: Dataset = {
  name: 'users',
  noun: 'user',
  schema: UserInput,
  columns: columnsOf(UserInput),
  keys: [['externalId'], ['email']],
  unique: ['email', 'username'],
  references: {},
  operations: { ...calls.users, params: paramsOf('userId') },
  find: ({ externalId, email }) => {
    const known = byExternalId('userId', { include_deleted: 'true' })({ externalId })
    if (known) return known
    const address = String(email).toLowerCase()
    return {
      reference: { userId: `email:${email}` },
      query: { email: address },
      matches: (shown) => String(shown['email']).toLowerCase() === address,
    }
  },
  toRecord: async (shown) => ofFields(UserInput, shown),
  toBody: async (record, current) => withoutOwnId(record, current),
}

/** A group in files, with its course by the name that files use. */
export const GroupRecord = GroupInput.omit({ courseId: true }).extend({ course: optional(Reference) })

/** Groups, matched by external id: names need not be unique. */
export const groups: Dataset = {
  name: 'groups',
  noun: 'group',
  schema: GroupRecord,
  columns: columnsOf(GroupRecord),
  keys: [['externalId']],
  references: { course: 'courses' },
  operations: { ...calls.groups, params: paramsOf('groupId') },
  find: byExternalId('groupId'),
  toRecord: async (shown) => ({
    ...ofFields(GroupRecord, shown),
    externalId: externalKeyOf(shown),
    ...(shown['courseId'] !== undefined && { course: courseOf(shown) }),
  }),
  toBody: async (record, current) => groupItem(withoutOwnId(record, current)),
  toItem: groupItem,
}

function groupItem({ course, ...others }: JsonObject): JsonObject {
  return { ...others, ...(course !== undefined && { courseId: course }) }
}

/** Null for none. */
function courseOf({ courseId, courseExternalId }: JsonObject): string | null {
  return courseId === null ? null : `ext:${courseExternalId ?? courseId}`
}

const { memberships: list, addMember, removeMember, batchMembers } = calls.groups

/** Members of groups, matched by both; a membership has nothing that could be changed. */
export const memberships: Dataset = {
  name: 'memberships',
  noun: 'group member',
  schema: MembershipInput,
  columns: columnsOf(MembershipInput),
  keys: [['groupId', 'userId']],
  references: { groupId: 'groups', userId: 'users' },
  operations: {
    ...{ list, create: addMember, delete: removeMember, batch: batchMembers },
    params: ({ groupId, userId }) => ({ groupId: String(groupId), userId: String(userId) }),
  },
  find: ({ groupId, userId }) => ({
    query: { group_id: escapeReference(String(groupId)), user_id: escapeReference(String(userId)) },
    matches: () => true,
  }),
  toRecord: async (shown, names) => ({
    groupId: `ext:${shown['groupExternalId'] ?? shown['groupId']}`,
    userId: await userKeyIn(shown, 'userId', names),
  }),
  // The path of the request says it all.
  toBody: async () => ({}),
}

/** Enrolments, matched by course, user and role. */
export const enrollments: Dataset = {
  name: 'enrollments',
  noun: 'enrolment',
  schema: EnrollmentInput,
  columns: columnsOf(EnrollmentInput),
  keys: [
    ['courseId', 'userId', 'role'],
    ['courseId', 'userId'],
  ],
  references: { courseId: 'courses', userId: 'users' },
  operations: { ...calls.enrollments, params: paramsOf('enrollmentId') },
  find: ({ courseId, userId, role = 'learner' }) => ({
    query: {
      course_id: escapeReference(String(courseId)),
      user_id: escapeReference(String(userId)),
      role: String(role),
    },
    matches: (shown) => shown['role'] === role,
  }),
  toRecord: async (shown, names) => ({
    ...ofFields(EnrollmentInput, shown),
    courseId: await courseKeyIn(shown, names),
    userId: await userKeyIn(shown, 'userId', names),
  }),
  toBody: async (record, current) => {
    if (current === null) return record
    const { courseId: _course, userId: _user, role: _role, status, ...changes } = record
    // A file does not reopen an enrolment that has been completed since.
    const reopens = status === 'active' && current['status'] === 'completed'
    return { ...changes, ...(status !== undefined && !reopens && { status }) }
  },
}
