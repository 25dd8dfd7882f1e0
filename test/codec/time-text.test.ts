import { expect, test } from 'vitest'
import { isDay } from '../../src/codec/time-text.ts'

test.for(['2026-01-31', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'])('%s is a day', (text) => {
  expect(isDay(text)).toBe(true)
})

test.for([
  '2026-02-30',
  '2025-02-29',
  '1900-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-1-1',
  '20260101',
  '',
  ' 2026-01-01',
])('%j is no day', (text) => {
  expect(isDay(text)).toBe(false)
})
