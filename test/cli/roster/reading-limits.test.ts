import { expect, test } from 'vitest'
import { requireEnd } from '../../../src/cli/roster/reading-limits.ts'
import { ForeignRecords } from '../../../src/contract/foreign-records.ts'

test('a list has at most 10,000 pages', () => {
  const page = ForeignRecords.parse({
    ...{ lmsKind: 'oneroster', system: 'OneRoster', nextCursor: 'next', byCourse: false },
    ...{ requestsAtOnce: 1, lists: [], notes: [], data: [] },
  })
  expect(() => requireEnd(page, 'grades', 9999)).not.toThrow()
  expect(() => requireEnd({ ...page, nextCursor: null }, 'grades', 10_000)).not.toThrow()
  expect(() => requireEnd(page, 'grades', 10_000)).toThrow('OneRoster does not end its list of grades')
})
