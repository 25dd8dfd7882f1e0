import { expect, test } from 'vitest'
import { idMaker } from '../../../src/server/database/id.ts'

test('no two ids are the same, and those of later times sort behind', () => {
  let timeMs = Date.parse('2026-03-01T12:00:00Z')
  const newId = idMaker(() => new Date(timeMs))
  const ids = Array.from({ length: 1500 }, () => {
    timeMs += 1
    return newId('crs')
  })
  expect(ids.every((id) => /^crs_[0-9a-z]{9}[0-9a-f]{20}$/.test(id))).toBe(true)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids.map((id) => id.slice(-20))).size).toBe(ids.length)
})
