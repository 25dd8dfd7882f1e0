import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Command } from '../../../src/cli/command/command.ts'
import { commandHelp } from '../../../src/cli/help/help-text.ts'
import { shapeOf } from '../../../src/cli/operation/prepare-call.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { settings } from '../../../src/config/setting.ts'
import { analytics } from '../../../src/contract/analytics.ts'
import { bare } from '../../../src/contract/fields.ts'
import { operations } from '../../../src/contract/index.ts'
import { host } from '../../helpers/host.ts'

const loaded = await Promise.all(
  Object.entries(nouns).map(async ([noun, { load }]) => {
    const found = await load(host)
    const commands: readonly Command[] = 'length' in found ? found : [found]
    return commands.map((command) => ({
      path: 'length' in found ? `${noun} ${command.name}` : noun,
      command,
    }))
  }),
)
const commands = loaded.flat()
const calls = commands.flatMap(({ path, command }) => (command.calls ? [{ path, ...command.calls }] : []))
const flags = await Promise.all(
  calls.map(async ({ path, operation, fields, query }) => {
    const { id } = await operation()
    const { body, merge, query: parameters } = operations.find((each) => each.id === id) ?? {}
    // A patch accepts the fields of the whole resource; absent ones stay unchanged.
    const inBody = merge ? [] : fields.map(({ place, flag }) => ({ flag, schema: schemaAt(body, place) }))
    const inQuery = query.map(({ place, flag }) => ({ flag, schema: schemaAt(parameters, place) }))
    return [...inBody, ...inQuery].map((each) => ({ name: `${path} --${each.flag.name}`, ...each }))
  }),
)
const globals = Object.values(settings).map(({ flag }) => flag as string)

test('lists with filters, and no other command that makes a call, can print what cannot be checked', async () => {
  const lists = await Promise.all(
    commands.map(async ({ path, command: { calls, flags = [] } }) => {
      if (!calls) return null
      const operation = await calls.operation()
      const { list, filters } = operations.find(({ id }) => id === operation.id) ?? {}
      return { path, filtered: list === true && filters !== undefined, flag: flags.some(isIgnoreFilters) }
    }),
  )
  const wrong = lists.filter((each) => each !== null && each.filtered !== each.flag)
  expect(wrong).toEqual([])
})

const isIgnoreFilters = ({ name }: { readonly name: string }) => name === 'ignore-filters'

describe.each(commands)('$path', ({ path, command }) => {
  const flags = (command.flags ?? []).flatMap(({ name, unlisted = [] }) => [
    name,
    ...unlisted.map((each) => each.replace(/^--?/, '')),
  ])

  test('has no flag of a global flag’s name, and none twice', () => {
    expect(flags.filter((flag) => globals.includes(flag) || flag === 'help' || flag === 'version')).toEqual(
      [],
    )
    expect(flags).toEqual([...new Set(flags)])
  })

  test('explains itself in 80 columns, but for what is to be copied', () => {
    const [told = ''] = commandHelp(`learnctl ${path}`, command, 80).split('\nExamples:\n')
    expect(told.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})

describe('the commands', () => {
  test('of two words stand in groups that are described, and no other word has a description', async () => {
    const described = Object.entries(nouns).flatMap(([noun, { groups = {} }]) =>
      Object.entries(groups).map(([word, summary]) => {
        expect(summary).toMatch(/^[A-Z][^\n]*[^.]$/)
        return `${noun} ${word}`
      }),
    )
    const grouped = commands.map(({ path }) => path.split(' ')).filter((words) => words.length > 2)
    expect(described).toEqual([...new Set(grouped.map(([noun, word]) => `${noun} ${word}`))])
    expect(grouped.filter((words) => words.length > 3)).toEqual([])
  })

  test.each(calls)('$path shows columns that its answer has', async ({ operation, columns }) => {
    const { paths } = shapeOf(await operation(), columns)
    expect(columns.filter((column) => !paths.includes(column))).toEqual([])
  })

  test.each(flags.flat())('$name has the choices and the default of the contract', ({ flag, schema }) => {
    expect(flag.choices).toEqual(choicesOf(schema))
    const standard = defaultOf(schema)
    if (standard !== undefined) expect(flag.default).toBe(standard)
    else expect(flag.default ?? '').not.toMatch(/^(on|off|\d+)$/)
  })

  test('of analytics have the choices of the contract', () => {
    const { query } = analytics.learners
    const own = commands.filter(({ path }) => path.startsWith('analytics '))
    const chosen = own.flatMap(({ command }) => command.flags ?? []).filter(({ choices }) => choices)
    const compared = chosen.flatMap(({ name, choices }) => {
      const schema = Object.entries(query.shape).find(([place]) => place.replaceAll('_', '-') === name)?.[1]
      if (!schema || name === 'format') return []
      expect(choices).toEqual(choicesOf(schema))
      return [name]
    })
    expect(new Set(compared)).toEqual(new Set(['status', 'difficulty', 'enrollment-status']))
  })

  test('reach every operation that a person calls by name', async () => {
    const called = await Promise.all(calls.map(async ({ operation }) => (await operation()).id))
    const others = operations.map(({ id }) => id).filter((id) => !called.includes(id))
    // `list --deleted` shows the trash. Batches, streams, reports and exports belong to bulk commands, the service to `doctor`
    // and `server`; `learnctl api` has all operations.
    expect(
      others.filter(
        (id) => !/^(service\.|analytics\.|\w+\.(batch|listDeleted)$|progress\.(all|steps)$)/.test(id),
      ),
    ).toEqual([
      // One command restores deleted records and earlier versions.
      ...['courses.version', 'courses.restore', 'lessons.version', 'lessons.restore'],
      'users.data',
      'users.updateProfile',
      // Bulk commands read and write the members of several groups.
      ...['groups.memberships', 'groups.batchMembers'],
      'grades.report',
      'endpoints.test',
      'deliveries.replayAll',
      // One command calls several of these operations.
      ...['records', 'write', 'mapping', 'map', 'mapBatch', 'unmap'].map((verb) => `integrations.${verb}`),
      // Commands that change many records begin and end a change.
      ...['changes.list', 'changes.create', 'changes.get', 'changes.end', 'changes.records'],
      ...['undo.plan', 'undo.carryOut'],
      // An apply keeps its writes on the server, tries them, and carries them out.
      ...['plans.create', 'plans.addSteps', 'plans.carryOut', 'plans.delete'],
      // Each apply takes the lease, and releases it.
      ...['leases.take', 'leases.release'],
    ])
  })
})

/** Returns the schema at a dotted path in a body or a query. */
function schemaAt(schema: z.ZodType | undefined, place: string): z.ZodType {
  return place.split('.').reduce((above, name) => {
    const object = bare(above)
    const member = object instanceof z.ZodObject ? (object.shape[name] as z.ZodType | undefined) : undefined
    if (!member) throw new Error(`${place} is not in the contract`)
    return member
  }, schema ?? z.never())
}

/** Returns the values that a schema accepts, from its error for another value; undefined if any value is valid. */
function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  const list = bare(schema) instanceof z.ZodArray
  const issues = schema.safeParse(list ? ['?'] : '?').error?.issues ?? []
  const values = issues.flatMap((issue) => (issue.code === 'invalid_value' ? [issue.values.map(String)] : []))
  const isSwitch = values[0]?.join() === 'true,false'
  return isSwitch ? undefined : values[0]
}

/** Returns the default of a schema as help shows it; undefined if help leaves it out. */
function defaultOf(schema: z.ZodType): string | undefined {
  const { data, success } = schema.safeParse(undefined)
  if (!success || data === null || data === undefined || data === '') return undefined
  if (Array.isArray(data)) return data.length > 0 ? data.join(',') : undefined
  if (typeof data !== 'boolean') return String(data)
  // A switch of a query is off by default; the default of a field's switch must be shown, because it may be on.
  return bare(schema) instanceof z.ZodBoolean ? (data ? 'on' : 'off') : undefined
}
