import { expect, test } from 'vitest'
import { pluralise } from '../../../src/cli/terminal/format-text.ts'

test('a number that may be larger says so', () => {
  expect([pluralise(1, 'lesson'), pluralise(12, 'lesson')]).toEqual(['1 lesson', '12 lessons'])
  expect([pluralise(10_000, 'lesson', false), pluralise(1, 'lesson', false)]).toEqual([
    '10,000+ lessons',
    '1+ lessons',
  ])
})
