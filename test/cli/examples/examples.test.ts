import { describe, expect, test } from 'vitest'
import { needs } from '../../helpers/examples.ts'
import { helpExamples } from './help-examples.ts'

const { examples, without } = await helpExamples()

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
})
