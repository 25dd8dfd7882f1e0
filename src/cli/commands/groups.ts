import type { Command, Given } from '../command/command.ts'
import { deletedFilters, fields, filters, memberFilters, membershipFilters } from '../flags/groups.ts'
import { call } from '../operation/operation-command.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import {
  deletedLine,
  deletionAction,
  eraseFlag,
  groupDeletionQuestion,
  readDeletedRecord,
  severalDeletionQuestion,
  shortDeletedLine,
  withDeleted,
} from './deletion.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.groups

const group = { name: 'group', summary: 'Group: id, external id or name' }
const deletedGroup = { name: 'group', summary: 'Group: id or external id' }
const user = { name: 'user', summary: 'User: id, external id or e-mail address' }
const columns = ['name', 'courseTitle', 'externalId', 'version', 'updatedAt', 'id']

/** Returns the group in a membership, `Class 5b (5b)`; the given reference if it has none. */
function groupIn(answer: unknown, { arguments: { group = '' } }: Given): string {
  const [name, externalId] = [valueAt(answer, 'groupName'), valueAt(answer, 'groupExternalId')]
  return thingName({ name, externalId: externalId ?? valueAt(answer, 'groupId') }, group)
}

function memberIn(answer: unknown, { arguments: { user } }: Given): string {
  return String(valueAt(answer, 'userEmail') ?? user)
}

export const commands: readonly Command[] = [
  withDeleted(
    'groups',
    call({
      name: 'list',
      summary: 'List groups',
      operation: async () => (await contract()).list,
      query: filters,
      columns,
      examples: ['groups list --course ext:AAA-2014J', 'groups list --user 11391'],
    }),
    call({
      name: 'list',
      summary: 'List deleted groups',
      operation: async () => (await contract()).listDeleted,
      query: deletedFilters,
      columns: ['name', 'members', 'deletedAt', 'restorableUntil', 'externalId', 'id', 'courseId'],
    }),
  ),
  call({
    name: 'get',
    summary: 'Show a group',
    operation: async () => (await contract()).get,
    arguments: { groupId: group },
    columns,
    examples: ['groups get 5b'],
  }),
  call({
    name: 'create',
    summary: 'Create a group',
    operation: async () => (await contract()).create,
    fields,
    exists: { dataset: 'groups', name: (thing) => `group ${thingName(thing)}` },
    columns,
    done: (answer) => `Created group ${thingName(answer)}`,
    examples: [
      'groups create --name "Class 5b" --external-id 5b',
      'groups create --name "Section 2" --course ext:AAA-2014J',
      'groups create --name "Class 5b" --external-id 5b --upsert',
    ],
  }),
  call({
    name: 'update',
    summary: 'Update groups',
    operation: async () => (await contract()).update,
    arguments: { groupId: group },
    several: 'groups',
    fields,
    merge: true,
    versioned: true,
    columns,
    done: (answer, { arguments: { group } }, unchanged) =>
      updatedLine('Updated', `group ${thingName(answer, group)}`, answer, unchanged),
    examples: ['groups update 5b --name "Class 6b"', 'groups update 5b --unset course'],
  }),
  call({
    name: 'delete',
    summary: 'Delete groups (their members are kept as users)',
    description:
      'A local academy keeps a deleted group for 30 days; groups restore brings it back with its members.',
    operation: async () => (await contract()).delete,
    arguments: { groupId: group },
    several: 'groups',
    query: eraseFlag,
    destroys: {
      action: deletionAction('group'),
      read: readDeletedRecord('group'),
      question: groupDeletionQuestion,
      several: severalDeletionQuestion('group'),
    },
    done: shortDeletedLine('group'),
    readDone: deletedLine('group'),
    examples: ['groups delete 5b --yes'],
  }),
  call({
    name: 'restore',
    summary: 'Restore deleted groups with their members',
    operation: async () => (await contract()).restoreDeleted,
    arguments: { deletedGroupId: deletedGroup },
    several: 'groups',
    columns,
    done: (answer, { arguments: { group } }) => `Restored group ${thingName(answer, group)}`,
    examples: ['groups restore 5b'],
  }),
  call({
    name: 'members list',
    summary: 'List the members of a group',
    operation: async () => (await contract()).members,
    arguments: { groupId: group },
    query: memberFilters,
    columns: ['userEmail', 'userExternalId', 'addedAt', 'userId'],
    examples: ['groups members list 5b --all'],
  }),
  call({
    name: 'members add',
    summary: 'Add users to a group',
    operation: async () => (await contract()).addMember,
    arguments: { groupId: group, userId: user },
    several: 'users',
    columns: ['userEmail', 'groupName', 'addedAt', 'id', 'userId', 'groupId'],
    done: (answer, given) => `Added ${memberIn(answer, given)} to group ${groupIn(answer, given)}`,
    examples: [
      'groups members add 5b 6516 11391',
      'users list --role analyst -q | learnctl groups members add 5b --ids -',
    ],
  }),
  call({
    name: 'members remove',
    summary: 'Remove users from a group',
    prints: [],
    operation: async () => (await contract()).removeMember,
    arguments: { groupId: group, userId: user },
    several: 'users',
    done: (_, { arguments: { group = '', user = '' } }) => `Removed ${user} from group ${group}`,
    examples: ['groups members remove 5b 11391'],
  }),
  {
    ...importCommand('memberships', 'members of groups', ['groups members import members.csv']),
    name: 'members import',
    summary: 'Add members to groups from a file',
  },
  {
    ...exportCommand({
      dataset: 'memberships',
      people: true,
      noun: 'members of groups',
      query: membershipFilters,
      order: 'addedAt',
      examples: ['groups members export --file all-members.csv', 'groups members export --group 5b'],
    }),
    name: 'members export',
  },
  importCommand('groups', 'groups', ['groups import groups.csv']),
  exportCommand({
    dataset: 'groups',
    noun: 'groups',
    query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
    order: 'createdAt',
    examples: ['groups export --file all-groups.csv'],
  }),
]
