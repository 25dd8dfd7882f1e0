import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFaultIn } from '../../src/codec/json-fault.ts'
import { randomRuns } from '../helpers/random.ts'

test.for([
  ['{"a": 1', 7],
  ['{"a" 1}', 5],
  ['{"a": 1,}', 8],
  ['{a: 1}', 1],
  ['[1, 2', 5],
  ['[1 2]', 3],
  ['[,]', 1],
  ['[1,]', 3],
  ['{"a": secret}', 6],
  ['"a\nb"', 2],
  ['"a\\xb"', 2],
  ['"a', 2],
  ['01', 1],
  ['1 1', 2],
  ['{}]', 2],
  ['[}', 1],
  ['{"a": [true, {"b": null}], "c" }', 31],
] as const)('%j stops being JSON at %i', ([text, offset]) => {
  expect(jsonFaultIn(text).offset).toBe(offset)
})

test('lines and columns begin at 1', () => {
  expect(jsonFaultIn('x')).toEqual({ offset: 0, line: 1, column: 1 })
  expect(jsonFaultIn('{\n  "a": 1,\n  b: 2\n}')).toEqual({ offset: 14, line: 3, column: 3 })
})

/** Changes that insert, delete or replace a character of JSON. */
const damaged = fc
  .tuple(fc.jsonValue(), fc.nat(), fc.nat(1), fc.constantFrom(...'{}[]",:\\ \nx01-.e'), fc.nat(2))
  .map(([value, place, taken, put, spaces]) => {
    const text = JSON.stringify(value, null, spaces)
    const at = place % (text.length + 1)
    return text.slice(0, at) + put + text.slice(at + taken)
  })

test('damage is found where the engine finds it, or where its word begins', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(damaged, (text) => {
      const said = messageOf(text)
      fc.pre(said !== undefined)
      const { offset } = jsonFaultIn(text)
      expect(offset).toBeLessThanOrEqual(text.length)
      const position = /at position (\d+)/.exec(said ?? '')?.[1]
      const lag = position === undefined ? 0 : Number(position) - offset
      // The offset is within an invalid literal, number or escape.
      const word = text.slice(offset, offset + lag)
      expect(word).toMatch(/^(\\u?[\dA-Fa-f]{0,4}|[.eE+-]{0,2}|[a-z]{1,4})$/)
      const token = /^Unexpected token '(.)'/.exec(said ?? '')?.[1]
      if (token) expect(text.slice(offset)).toContain(token)
    }),
    { numRuns: randomRuns(200, 2000) },
  )
})

function messageOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
