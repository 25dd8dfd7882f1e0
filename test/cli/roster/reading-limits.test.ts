import { expect, test } from 'vitest'
import { PageGuard } from '../../../src/cli/roster/reading-limits.ts'
import { ForeignRecords } from '../../../src/contract/foreign-records.ts'

function page(ids: readonly number[]): ForeignRecords {
  return ForeignRecords.parse({
    ...{ lmsKind: 'oneroster', system: 'OneRoster', nextCursor: 'next', byCourse: false },
    ...{ requestsAtOnce: 1, lists: [], notes: [] },
    data: ids.map((id) => ({ part: 'grades', id: String(id), record: {} })),
  })
}

test('a list may have hundreds of pages without a new record, as a class with many items without results', () => {
  const guard = new PageGuard()
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 499; index += 1) guard.check(page([]), 'grades')
    guard.check(page([round]), 'grades')
  }
  for (let index = 0; index < 499; index += 1) guard.check(page([1]), 'grades')
  expect(() => guard.check(page([2]), 'grades')).toThrow('OneRoster does not end its list of grades')
})

test('a list has at most 50,000 pages', { tags: ['slow'] }, () => {
  const guard = new PageGuard()
  for (let index = 1; index < 50_000; index += 1) guard.check(page([index]), 'grades')
  expect(() => guard.check(page([0]), 'grades')).toThrow('OneRoster does not end its list of grades')
})
