import type { Command } from '../command/command.ts'
import { settingFields } from '../flags/access.ts'
import { call } from '../operation/operation-command.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.settings

const columns = ['instructorAccess', 'instructorEnrollment', 'updatedAt', 'version']

export const commands: readonly Command[] = [
  call({
    name: 'get',
    summary: 'Show the settings of the academy',
    operation: async () => (await contract()).get,
    columns,
    examples: ['settings get'],
  }),
  call({
    name: 'update',
    summary: 'Update the settings of the academy',
    description:
      'The settings belong to the academy: they apply to all servers of it from the next request on, and to all credentials.',
    operation: async () => (await contract()).update,
    fields: settingFields,
    merge: true,
    versioned: true,
    columns,
    done: (_, __, unchanged) =>
      unchanged ? 'No changes to the settings of the academy' : 'Updated the settings of the academy',
    examples: ['settings update --instructor-access all', 'settings update --unset instructor-access'],
  }),
]
