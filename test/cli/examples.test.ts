import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Command } from '../../src/cli/command/command.ts'
import { nouns } from '../../src/cli/program/nouns.ts'
import { needs, openExamples, successOf } from '../helpers/examples.ts'
import { host } from '../helpers/host.ts'

const place = await openExamples()
beforeEach(() => place.reset())
afterAll(() => place.close())

const examples: (readonly [line: string, command: string])[] = []
const without: string[] = []
for (const [noun, { load }] of Object.entries(nouns)) {
  const loaded = await load(host)
  const commands: readonly Command[] = 'length' in loaded ? loaded : [loaded]
  for (const { name, examples: lines = [] } of commands) {
    const path = name === noun ? noun : `${noun} ${name}`
    if (lines.length === 0) without.push(path)
    examples.push(...lines.map((line) => [line, path] as const))
  }
}

describe('examples in help', () => {
  test('every command has one, and each calls the command that it stands at', () => {
    expect(without).toEqual([])
    const calls = (line: string, path: string) =>
      `${line} `.startsWith(`${path} `) || line.includes(` -q | learnctl ${path} `)
    expect(examples.filter(([line, path]) => !calls(line, path))).toEqual([])
  })

  test('what is said to need something is there', () => {
    for (const [commands] of needs) {
      expect(examples.filter(([line]) => commands.test(line))).not.toEqual([])
    }
  })

  test.for(examples)('learnctl %s', async ([line]) => {
    const ran = await place.run(line)
    expect(ran, ran.stderr).toMatchObject({ code: successOf(line) })
  })
})
