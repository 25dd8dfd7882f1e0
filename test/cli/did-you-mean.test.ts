import { expect, test } from 'vitest'
import { didYouMean } from '../../src/cli/did-you-mean.ts'

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
  expect(didYouMean(word, known)).toEqual(meant)
})

test('words equally near are all named', () => {
  expect(didYouMean('cat', ['bat', 'hat', 'dog'])).toEqual(['bat', 'hat'])
})
