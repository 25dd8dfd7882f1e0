import { describe, expect, test } from 'vitest'
import { needs } from '../../helpers/examples.ts'
import { allCommands } from '../../helpers/host.ts'
import { comparedLines, exampleLines, helpExamples, notCompared, printing } from './help-examples.ts'

describe('examples in help', () => {
  test('every command has one', async () => {
    const without = (await allCommands()).filter(([, { examples = [] }]) => examples.length === 0)
    expect(without.map(([path]) => path)).toEqual([])
  })

  test('each calls the command that it stands at', () => {
    const calls = (line: string, path: string) =>
      `${line} `.startsWith(`${path} `) || line.includes(` -q | learnctl ${path} `)
    expect(helpExamples.filter(([line, path]) => !calls(line, path))).toEqual([])
  })

  test('what is said to need something is there', () => {
    for (const [lines] of needs) {
      expect(helpExamples.filter(([line]) => lines.test(line))).not.toEqual([])
    }
  })

  test('the result of each command that prints JSON is compared with its schema', () => {
    const compared = new Set(exampleLines.filter(([line]) => comparedLines.has(line)).map(([, path]) => path))
    const missing = printing.filter((path) => !compared.has(path))
    expect(missing.toSorted()).toEqual(Object.keys(notCompared).toSorted())
  })
})
