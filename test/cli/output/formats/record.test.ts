import { Chalk } from 'chalk'
import { expect, test } from 'vitest'
import { recordText } from '../../../../src/cli/output/formats/table.ts'

const chalk = new Chalk({ level: 0 })
const named = (...paths: string[]) => paths.map((path) => ({ path, label: path }))

function draw(
  value: unknown,
  { columns = null as ReturnType<typeof named> | null, width = 60 } = {},
): string {
  return `\n${recordText(value, { columns, width, chalk })}`
}

test('a field has a line, an object stands indented under its name, a list of plain values beside it', () => {
  expect(draw({ id: 'x', criteria: { score: 70, moveOn: 'Passed' }, tags: ['a', 'b'] })).toBe(`
id    x
criteria
  score   70
  moveOn  Passed
tags  a, b
`)
})

test('what is not set is left out; false and 0 are set', () => {
  const unset = { a: null, b: '', c: [], d: {}, e: { f: null, g: { h: [] } } }
  expect(draw({ id: 'x', ...unset, push: false, count: 0 })).toBe(`
id     x
push   false
count  0
`)
})

test('chosen fields are shown whether they are set or not, and no others', () => {
  expect(draw({ id: 'x', a: { b: null, c: 1 } }, { columns: named('a.b', 'a') })).toBe(`
a.b
a
  c  1
`)
})

test('a list of objects is a list of blocks', () => {
  const modules = [{ id: 'm1', title: 'One', parts: [{ n: 1 }, null] }, { id: 'm2' }]
  expect(draw({ modules })).toBe(`
modules
  - id     m1
    title  One
    parts
      - n  1
      - –
  - id  m2
`)
})

test('nothing is cut off: long texts are wrapped, long items have a line each', () => {
  const id = 'usr_0123456789abcdef0123456789abcdef'
  const bio = 'Wrote the first program, before there was a machine for it.\nSecond line.'
  const objectives = ['Name the layers of the open ocean', 'Tell plankton from nekton']
  expect(draw({ id, bio, learningObjectives: objectives, aNameThatIsLongerThanItsShareOfTheLine: 1 })).toBe(`
id                        ${id}
bio                       Wrote the first program, before
                          there was a machine for it.
                          Second line.
learningObjectives        - Name the layers of the open
                            ocean
                          - Tell plankton from nekton
aNameThatIsLongerThanItsShareOfTheLine
                          1
`)
})

test('wide characters take two columns', () => {
  expect(draw({ 題: 'a', title: '日本語 のコース' }, { width: 16 })).toBe(`
題     a
title  日本語
       のコース
`)
})

test('control characters are shown instead of obeyed, in names as well', () => {
  expect(draw({ 'a\u001b[2J': 'x\u001b[2J\r' })).toBe('\na\\x1b[2J  x\\x1b[2J\\r\n')
})
