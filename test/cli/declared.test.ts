import { describe, expect, test } from 'vitest'
import type { Command } from '../../src/cli/command.ts'
import { nouns } from '../../src/cli/nouns.ts'
import { settings } from '../../src/config/setting.ts'

const loaded = await Promise.all(
  Object.entries(nouns).map(async ([noun, { load }]) => {
    const found = await load(async () => null)
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

  test('is described in one line', () => {
    expect(command.summary).toMatch(/^[A-Z][^\n]*[^.]$/)
  })
})
