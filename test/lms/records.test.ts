import { expect, test } from 'vitest'
import { jsonIn, readEach, retryAfterIn } from '../../src/lms/records.ts'

test('Retry-After counts from the clock of the other system, which may be an hour off', () => {
  const response = (headers: Readonly<Record<string, string>>) => ({ status: 429, headers, body: '' })
  expect(retryAfterIn(response({ 'retry-after': '38' }), 5)).toBe(38)
  const date = 'Sun, 01 Mar 2026 13:00:00 GMT'
  expect(retryAfterIn(response({ date, 'retry-after': 'Sun, 01 Mar 2026 13:00:30 GMT' }), 5)).toBe(30)
  expect(retryAfterIn(response({ 'retry-after': 'Sun, 01 Mar 2026 13:00:30 GMT' }), 5)).toBe(5)
  expect(retryAfterIn(response({ 'retry-after': 'soon' }), 5)).toBe(5)
})

test('half a document is asked for again, a web page and other text are not', () => {
  const read = (body: string, status = 200) => jsonIn({ status, headers: {}, body })
  expect(read('[{"id":1}]')).toEqual({ json: [{ id: 1 }] })
  expect(read('[{"id":')).toMatchObject({ refusal: 'busy' })
  expect(read('')).toMatchObject({ refusal: 'busy' })
  expect(read('<html><body>Log in')).toMatchObject({ refusal: 'answer' })
  expect(read('Not Found', 404)).toMatchObject({ refusal: 'answer' })
})

test('rows are records or counted: none is lost', () => {
  const rows = ['a', 'b', '', 'c', 'b']
  const found = readEach(rows, (row) =>
    row === 'b' ? 'b is left out' : { part: 'users', id: row, record: { externalId: row } },
  )
  expect(found.records.map(({ id }) => id)).toEqual(['a', 'c'])
  expect(found.notes).toEqual([
    { text: 'b is left out', count: 2 },
    { text: 'records without an id are left out', count: 1 },
  ])
})
