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
