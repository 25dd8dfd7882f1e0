import { describe, expect, test, vi } from 'vitest'
import { parsePlacedYaml, parseYaml } from '../../../src/cli/operation/document.ts'

const linesOf = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')

describe('A YAML document', () => {
  test.for([
    ['in a block', linesOf(3000, (index) => `k${index}: ${index}`)],
    ['between braces', `{${linesOf(3000, (index) => `k${index}: ${index},`)}}`],
  ])('is read without comparing each key with all others, %s', async ([, text = '']) => {
    // The reader compares with this method only.
    const compared: number[] = []
    const { some } = Array.prototype
    const spy = vi.spyOn(Array.prototype, 'some').mockImplementation(function (this: unknown[], ...given) {
      compared.push(this.length)
      return some.apply(this, given)
    })
    const value = await parseYaml(text, 'f.yaml').finally(() => spy.mockRestore())
    expect(Object.keys(value as object)).toHaveLength(3000)
    expect(compared.reduce((sum, length) => sum + length, 0)).toBeLessThan(100_000)
  })

  test.for([
    ['a: 1\nb: 2\na: 3', 'f.yaml:3:1: not YAML: Map keys must be unique'],
    ['x:\n  - {b: 1, c: 2, "b": 3}\na: 1\na: 2', 'f.yaml:2:18: not YAML: Map keys must be unique'],
    ['1: a\n0x1: b', 'f.yaml:2:1: not YAML: Map keys must be unique'],
    [`a: 1\nb: ${'7'.repeat(1001)}`, 'f.yaml:2:4: not YAML: it has an integer of more than 1000 digits'],
    [
      linesOf(1001, (index) => `- &a${index} x\n- *a${index}`),
      'Cannot read f.yaml: it has more than 2000 anchors and aliases',
    ],
    [
      `${linesOf(2001, (index) => `k${index}: &a${index} {}`)}`,
      'Cannot read f.yaml: it has more than 2000 anchors and aliases',
    ],
  ] as const)('is refused where it is %#', async ([text, message]) => {
    await expect(parseYaml(text, 'f.yaml')).rejects.toThrow(message)
  })

  test('keeps what it has', async () => {
    const digits = '7'.repeat(1000)
    expect(
      await parseYaml(`a: -${digits}\nb: 12\n'1': x\n1.5: y\nc: &c [1]\nd: *c\ne: 0x10`, 'f.yaml'),
    ).toEqual({
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
    const { lineOf } = await parsePlacedYaml('a:\n  - b: 1\n    c:\n      d: 2\n1: x', 'f.yaml', 1000)
    expect(lineOf(['a', 0, 'b'])).toBe(2)
    expect(lineOf(['a', 0, 'c', 'd'])).toBe(4)
    expect(lineOf(['a', 0, 'none'])).toBe(2)
    expect(lineOf(['1'])).toBe(5)
  })
})
