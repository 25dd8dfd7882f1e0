import { describe, expect, test } from 'vitest'
import { parsePlacedYaml } from '../../../src/cli/terminal/parse-document.ts'

describe('A YAML document', () => {
  test.for([
    ['a: 1\nb: 2\na: 3', 'f.yaml:3:1: not YAML: Map keys must be unique'],
    ['x:\n  - {b: 1, c: 2, "b": 3}\na: 1\na: 2', 'f.yaml:2:18: not YAML: Map keys must be unique'],
    ['1: a\n0x1: b', 'f.yaml:2:1: not YAML: Map keys must be unique'],
  ] as const)('is refused where it is %#', async ([text, message]) => {
    await expect(parsePlacedYaml(text, 'f.yaml')).rejects.toThrow(message)
  })

  test('keeps what it has', async () => {
    const digits = '7'.repeat(1000)
    const text = `a: -${digits}\nb: 12\n'1': x\n1.5: y\nc: &c [1]\nd: *c\ne: 0x10`
    expect((await parsePlacedYaml(text, 'f.yaml')).value).toEqual({
      a: -BigInt(digits),
      b: 12,
      1: 'x',
      1.5: 'y',
      c: [1],
      d: [1],
      e: 16,
    })
  })

  test('reports the lines of its parts', async () => {
    const { lineOf } = await parsePlacedYaml('a:\n  - b: 1\n    c:\n      d: 2\n1: x', 'f.yaml')
    expect(lineOf(['a', 0, 'b'])).toBe(2)
    expect(lineOf(['a', 0, 'c', 'd'])).toBe(4)
    expect(lineOf(['a', 0, 'none'])).toBe(2)
    expect(lineOf(['1'])).toBe(5)
  })
})
