import { escapeReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import { MembershipInput } from '../../contract/groups.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { userKeyIn } from './names.ts'

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
    list,
    create: addMember,
    delete: removeMember,
    batch: batchMembers,
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
