import { expect, test } from 'vitest'
import { findNearest } from '../../src/codec/nearest.ts'

const known = ['list', 'get', 'create', 'update', 'publish', 'unpublish', 'delete', 'versions', 'restore']

test.each([
  ['lsit', ['list']],
  ['lists', ['list']],
  ['crate', ['create']],
  ['CREATE', ['create']],
  ['vers', ['versions']],
  ['publsh', ['publish']],
  ['dleete', ['delete']],
  ['--titel', []],
  ['x', []],
  ['', []],
  ['something', []],
])('"%s" was meant to be %j', (word, meant) => {
  expect(findNearest(word, known)).toEqual(meant)
})

test('words equally near are all named', () => {
  expect(findNearest('cat', ['bat', 'hat', 'dog'])).toEqual(['bat', 'hat'])
})

test('a text longer than any word is near none', () => {
  const name = 'x'.repeat(65)
  expect(findNearest(name, [name])).toEqual([])
})
