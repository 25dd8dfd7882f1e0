import { describe, expect, test } from 'vitest'
import type { Command } from '../../../src/cli/command/command.ts'
import { commandHelp } from '../../../src/cli/help/help-text.ts'
import { shapeOf } from '../../../src/cli/operation/schema.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { settings } from '../../../src/config/setting.ts'
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
const globals = Object.values(settings).map(({ flag }) => flag as string)

describe.each(commands)('$path', ({ path, command }) => {
  const flags = (command.flags ?? []).flatMap(({ name, alias }) => (alias ? [name, alias] : [name]))

  test('has no flag of a global flag’s name, and none twice', () => {
    expect(flags.filter((flag) => globals.includes(flag) || flag === 'help' || flag === 'version')).toEqual(
      [],
    )
    expect(flags).toEqual([...new Set(flags)])
  })

  test('names its flags in kebab-case, without a no- of its own', () => {
    expect(flags.filter((flag) => !/^[a-z]+(-[a-z]+)*$/.test(flag) || flag.startsWith('no-'))).toEqual([])
  })

  test('gives examples of itself', () => {
    for (const example of command.examples ?? []) expect(example).toMatch(new RegExp(`^${path}( |$)`))
  })

  test('explains itself in 80 columns, but for what is to be copied', () => {
    const [told = ''] = commandHelp(`learnctl ${path}`, command, 80).split('\nExamples:\n')
    expect(told.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('is described in one line', () => {
    expect(command.summary).toMatch(/^[A-Z][^\n]*[^.]$/)
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

  const calls = commands.flatMap(({ path, command }) => (command.calls ? [{ path, ...command.calls }] : []))

  test.each(calls)('$path shows columns that its answer has', async ({ operation, columns }) => {
    const { paths } = shapeOf(await operation(), columns)
    expect(columns.filter((column) => !paths.includes(column))).toEqual([])
  })

  test('reach every operation that a person calls by name', async () => {
    const called = await Promise.all(calls.map(async ({ operation }) => (await operation()).id))
    const others = operations.map(({ id }) => id).filter((id) => !called.includes(id))
    // Batches and streams belong to bulk work, the service's own to `doctor` and `server`; `learnctl api` has them all.
    expect(others.filter((id) => !/^(service\.|analytics\.|\w+\.batch$)/.test(id))).toEqual([
      'courses.version',
      'users.updateProfile',
    ])
  })
})
