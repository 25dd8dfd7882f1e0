import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFaultAt } from '../../../src/cli/operation/json-fault.ts'

test.each([
  ['{"a": [}', 7],
  ['[1,]', 3],
  ['{"a" 1}', 5],
  ['{a: 1}', 1],
  ['[1 2]', 3],
  ['{"a": 1} x', 9],
  ['[01]', 2],
  ['["a\nb"]', 1],
  ['[1, 2', 5],
  ['', 0],
])('%j stops being JSON at %d', (text, index) => {
  expect(jsonFaultAt(text)).toBe(index)
})

test('what is JSON is so to its end', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(jsonFaultAt(text)).toBe(text.length)
    }),
  )
})

test('invalid JSON has its fault before its end, or lacks its end', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (text, position) => {
      const cut = `${text.slice(0, position % text.length)}!`
      const index = jsonFaultAt(cut)
      expect(index).toBeLessThan(cut.length)
      expect(() => JSON.parse(cut)).toThrow()
    }),
  )
})
