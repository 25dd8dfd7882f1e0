import type { Table } from '../../tables/dictionary.ts'
import { type Command, noTarget, notAList } from '../command/command.ts'
import type { Shape } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'

const columns = ['table', 'name', 'type', 'unit', 'meaning', 'nullMeans']
const shape: Shape = {
  table: columns,
  paths: [...columns, 'privacy', 'operation'],
  identifier: 'name',
}

export const fieldsCommand: Command = {
  name: 'fields',
  hasRows: true,
  summary: 'List the columns of lists and exports with their types and meanings',
  writes: [],
  prints: ['DataField[]'],
  description:
    'The data dictionary: table, name, type, unit, meaning and what null means. A table is the list of a resource (users), a\nquestion of analytics (learners, at-risk), or an operation (grades.history). --columns name,privacy shows how a column\nidentifies a person: id, name, address, text (free text), time or none.',
  arguments: [
    { name: 'table', summary: 'Tables, such as learners (default all)', rest: true, optional: true },
  ],
  refuses: { ...noTarget, ...notAList, dryRun: 'Nothing is sent' },
  examples: [
    'analytics fields learners',
    'analytics fields users enrollments --columns table,name,privacy',
    'analytics fields -o json',
  ],
  run: async ({ output }, { rest }) => {
    const { tables } = await import('../../tables/dictionary.ts')
    output.check(shape)
    const wanted = rest.length === 0 ? tables : rest.map((name) => findTable(tables, name))
    await output.list(wanted.map(rowsOf), shape)
  },
}

function findTable(tables: readonly Table[], name: string): Table {
  const found = tables.find((table) => table.name === name)
  if (found) return found
  const names = tables.map((table) => table.name)
  throw new UsageError(`No table ${JSON.stringify(name)}`, {
    code: 'unknown_table',
    why: [`Tables: ${names.join(', ')}`],
    choice: { given: name, valid: names },
  })
}

function rowsOf({ name: table, operation, columns }: Table) {
  return columns.map(({ name, type, unit, meaning, nullMeans, privacy }) => ({
    ...{ table, name, type, unit, meaning, nullMeans, privacy, operation },
  }))
}
