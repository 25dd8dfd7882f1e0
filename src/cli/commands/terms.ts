import type { Command } from '../command/command.ts'
import { fields, filters } from '../flags/terms.ts'
import { call } from '../operation/operation-command.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.terms

const term = { name: 'term', summary: 'Term: id, external id or name' }

const columns = ['name', 'startDate', 'endDate', 'externalId', 'id']

export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List terms',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['terms list --sort -startDate'],
  }),
  call({
    name: 'get',
    summary: 'Show a term',
    operation: async () => (await contract()).get,
    arguments: { termId: term },
    columns,
    examples: ['terms get ext:2027S'],
  }),
  call({
    name: 'create',
    summary: 'Create a term',
    operation: async () => (await contract()).create,
    fields,
    exists: { dataset: 'terms', name: (thing) => `term ${thingName(thing)}` },
    columns,
    done: (answer) => `Created term ${thingName(answer)}`,
    examples: [
      'terms create --name "Spring 2027" --external-id 2027S --start-date 2027-02-01 --end-date 2027-07-31',
      'terms create --name "Spring 2027" --external-id 2027S --if-not-exists -q',
    ],
  }),
  call({
    name: 'update',
    summary: 'Update terms',
    operation: async () => (await contract()).update,
    arguments: { termId: term },
    several: 'terms',
    fields,
    merge: true,
    versioned: true,
    columns,
    done: (answer, { arguments: { term } }, unchanged) =>
      updatedLine('Updated', `term ${thingName(answer, term)}`, answer, unchanged),
    examples: ['terms update ext:2027S --end-date 2027-07-25', 'terms update ext:2027S --unset end-date'],
  }),
  call({
    name: 'delete',
    summary: 'Delete terms that have no courses',
    operation: async () => (await contract()).delete,
    arguments: { termId: term },
    several: 'terms',
    destroys: {
      action: ({ arguments: { term } }) => `delete term ${term}`,
      read: async (look, { arguments: { term = '' } }) => look.one((await contract()).get, { termId: term }),
      question: async (_, { arguments: { term = '' } }, found) => ({
        text: `Delete term ${thingName(found, term)}`,
        consequence: 'This cannot be undone.',
      }),
      several: async () => ({ consequence: 'This cannot be undone.' }),
    },
    done: (found, { arguments: { term } }) => `Deleted term ${thingName(found, term)}`,
    examples: ['terms delete ext:2027S --yes'],
  }),
  importCommand('terms', 'terms', ['terms import terms.csv']),
  exportCommand({
    dataset: 'terms',
    noun: 'terms',
    query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
    order: 'createdAt',
    examples: ['terms export --file all-terms.csv'],
  }),
]
