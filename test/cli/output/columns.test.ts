import { expect, test } from 'vitest'
import { cellText, pathsIn, pick, setAt } from '../../../src/cli/output/columns.ts'
import { labelColumns, valueAt } from '../../../src/tables/column.ts'

const course = { id: 'c', 'a.b': 1, criteria: { score: 70, parts: { x: null } }, tags: ['a', 'b'] }

test.each([
  ['id', 'c'],
  ['a.b', 1],
  ['criteria.score', 70],
  ['criteria.parts.x', null],
  ['criteria.none', undefined],
  ['toString', undefined],
  ['id.length', undefined],
])('the value at %s', (path, value) => {
  expect(valueAt(course, path)).toEqual(value)
})

test('a value is reduced to some paths, nested as it was', () => {
  expect(pick(course, labelColumns(['criteria.score', 'id', 'criteria.none'], []))).toEqual({
    criteria: { score: 70, none: null },
    id: 'c',
  })
})

test('every path of a value is known', () => {
  expect(
    pathsIn([
      { a: 1, b: { c: { d: 2 } }, e: [{ f: 1 }] },
      { a: 2, g: 3 },
    ]),
  ).toEqual(['a', 'b', 'b.c', 'b.c.d', 'e', 'g'])
})

test('a field called __proto__ is a field like any other', () => {
  const target: Record<string, unknown> = {}
  setAt(target, ['__proto__', 'polluted'], true)
  expect(Object.hasOwn(target, '__proto__')).toBe(true)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test.each([
  [null, ''],
  [undefined, ''],
  [['a', 'b'], 'a, b'],
  [[{ a: 1 }], '[{"a":1}]'],
  [{ a: 1 }, '{"a":1}'],
  [false, 'false'],
  [0, '0'],
])('%j as a cell is "%s"', (value, text) => {
  expect(cellText(value)).toBe(text)
})
