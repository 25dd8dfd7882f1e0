import { valueAt } from '../../tables/column.ts'
import type { Command, Given } from '../command/command.ts'
import { groupFlags } from '../flags/courses.ts'
import { call } from '../operation/operation-command.ts'
import { thingName } from '../operation/thing-name.ts'
import { moveToTrash, withDeleted } from './deletion.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.groups

const argument = { name: 'group', summary: 'Group: id, external id or name' }
const deletedGroup = { name: 'group', summary: 'Group: id or external id' }
const user = { name: 'user', summary: 'User: id, external id or e-mail address' }
const columns = ['name', 'courseTitle', 'externalId', 'version', 'updatedAt', 'id']

const group = recordCommands({ operations: contract, argument, columns, ...groupFlags })

/** `Class 5b (5b)`; the given reference if it has none. */
function groupIn(answer: unknown, { arguments: { group = '' } }: Given): string {
  const [name, externalId] = [valueAt(answer, 'groupName'), valueAt(answer, 'groupExternalId')]
  return thingName({ name, externalId: externalId ?? valueAt(answer, 'groupId') }, group)
}

function memberIn(answer: unknown, { arguments: { user } }: Given): string {
  return String(valueAt(answer, 'userEmail') ?? user)
}

export const commands: readonly Command[] = [
  withDeleted(
    'group',
    group.list({ examples: ['groups list --course ext:AAA-2014J', 'groups list --user 11391'] }),
    {
      filters: groupFlags.deletedFilters,
      columns: ['name', 'members', 'deletedAt', 'restorableUntil', 'externalId', 'id', 'courseId'],
    },
  ),
  group.get({ examples: ['groups get 5b'] }),
  group.create({
    dataset: 'groups',
    examples: [
      'groups create --name "Class 5b" --external-id 5b',
      'groups create --name "Section 2" --course ext:AAA-2014J',
      'groups create --name "Class 5b" --external-id 5b --upsert',
    ],
  }),
  group.update({ examples: ['groups update 5b --name "Class 6b"', 'groups update 5b --unset course'] }),
  group.delete({
    ...moveToTrash('group'),
    summary: 'Delete groups (their members are kept as users)',
    description:
      'A local academy keeps a deleted group for 30 days; groups restore brings it back with its members.',
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
    arguments: { groupId: argument },
    query: groupFlags.memberFilters,
    columns: ['userEmail', 'userExternalId', 'addedAt', 'userId'],
    examples: ['groups members list 5b --all'],
  }),
  call({
    name: 'members add',
    summary: 'Add users to a group',
    operation: async () => (await contract()).addMember,
    arguments: { groupId: argument, userId: user },
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
    arguments: { groupId: argument, userId: user },
    several: 'users',
    done: (_, { arguments: { group = '', user = '' } }) => `Removed ${user} from group ${group}`,
    examples: ['groups members remove 5b 11391'],
  }),
  {
    ...importCommand({
      dataset: 'memberships',
      nouns: 'members of groups',
      examples: ['groups members import members.csv'],
    }),
    name: 'members import',
    summary: 'Add members to groups from a file',
  },
  {
    ...exportCommand({
      dataset: 'memberships',
      people: true,
      noun: 'members of groups',
      query: groupFlags.membershipFilters,
      order: 'addedAt',
      examples: ['groups members export --file all-members.csv', 'groups members export --group 5b'],
    }),
    name: 'members export',
  },
  importCommand({ dataset: 'groups', nouns: 'groups', examples: ['groups import groups.csv'] }),
  exportCommand({
    dataset: 'groups',
    query: oldestFirst(groupFlags.filters),
    examples: ['groups export --file all-groups.csv'],
  }),
]
