import { expect, test } from 'vitest'
import { idMaker, plainIdMaker } from '../../../src/server/database/id.ts'

test.for([
  ['ids', idMaker],
  ['plain ids', plainIdMaker],
] as const)('no two %s are the same, and those of later times sort behind', ([, maker]) => {
  let timeMs = Date.parse('2026-03-01T12:00:00Z')
  const newId = maker(() => new Date(timeMs))
  const ids = Array.from({ length: 1500 }, () => {
    timeMs += 1
    return newId('crs')
  })
  expect(ids.every((id) => /^crs_[0-9a-z]{9}[0-9a-f]{20}$/.test(id))).toBe(true)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids.map((id) => id.slice(-20))).size).toBe(ids.length)
})

test('ids of one millisecond sort in the order in which they were made', () => {
  const newId = idMaker(() => new Date('2026-03-01T12:00:00Z'))
  const ids = Array.from({ length: 2000 }, () => newId('usr'))
  expect(new Set(ids).size).toBe(2000)
  expect(ids.toSorted()).toEqual(ids)
})

test('ids of two programs in one millisecond differ in more than how they count', () => {
  const now = () => new Date('2026-03-01T12:00:00Z')
  const [one, other] = [idMaker(now)('usr'), idMaker(now)('usr')]
  expect(one.slice(0, 13)).toBe(other.slice(0, 13))
  expect(one.slice(13, 25)).not.toBe(other.slice(13, 25))
  expect(one.slice(25)).not.toBe(other.slice(25))
})
