import { expect, test } from 'vitest'
import { counted } from '../../../src/cli/terminal/format-text.ts'

test('a number that may be larger says so', () => {
  expect([counted(1, 'lesson'), counted(12, 'lesson')]).toEqual(['1 lesson', '12 lessons'])
  expect([counted(10_000, 'lesson', false), counted(1, 'lesson', false)]).toEqual([
    '10,000+ lessons',
    '1+ lessons',
  ])
})
