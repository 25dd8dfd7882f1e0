import type { Command } from '../command/command.ts'
import { termFlags } from '../flags/courses.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

const term = recordCommands({
  operations: async () => (await import('../../contract/calls.ts')).calls.terms,
  argument: { name: 'term', summary: 'Term: id, external id or name' },
  columns: ['name', 'startDate', 'endDate', 'externalId', 'id'],
  ...termFlags,
})

export const commands: readonly Command[] = [
  term.list({ examples: ['terms list --sort -startDate'] }),
  term.get({ examples: ['terms get ext:2027S'] }),
  term.create({
    dataset: 'terms',
    examples: [
      'terms create --name "Spring 2027" --external-id 2027S --start-date 2027-02-01 --end-date 2027-07-31',
      'terms create --name "Spring 2027" --external-id 2027S --if-not-exists -q',
    ],
  }),
  term.update({
    examples: ['terms update ext:2027S --end-date 2027-07-25', 'terms update ext:2027S --unset end-date'],
  }),
  term.delete({
    summary: 'Delete terms that have no courses',
    examples: ['terms delete ext:2027S --yes'],
  }),
  importCommand({ dataset: 'terms', nouns: 'terms', examples: ['terms import terms.csv'] }),
  exportCommand({
    dataset: 'terms',
    query: oldestFirst(termFlags.filters),
    examples: ['terms export --file all-terms.csv'],
  }),
]
