import { expect } from 'vitest'
import { logLine } from '../../../src/server/http/log.ts'
import { test } from '../../helpers/academy.ts'

test('one line of JSON has the user, the request and its outcome', () => {
  const line = logLine({
    time: '2026-03-01T12:00:00.000Z',
    requestId: 'req_1',
    method: 'GET',
    path: '/v1/courses',
    status: 200,
    durationMs: 1.23456,
    userId: 'usr_1',
    credential: 'key_1',
  })
  expect(line.endsWith('\n')).toBe(true)
  expect(JSON.parse(line)).toEqual({
    level: 'info',
    time: '2026-03-01T12:00:00.000Z',
    requestId: 'req_1',
    method: 'GET',
    path: '/v1/courses',
    userId: 'usr_1',
    credential: 'key_1',
    status: 200,
    durationMs: 1.23,
  })
})

test('a line is one line, whatever the path is made of', () => {
  const entry = { time: '', requestId: '', method: 'GET', path: '/a\r\nb\u2028', status: 404, durationMs: 0 }
  expect(logLine(entry).trimEnd()).not.toMatch(/[\r\n]/)
})

test.for([
  [200, 'info'],
  [404, 'warn'],
  [500, 'error'],
] as const)('status %s is logged as %s', ([status, level]) => {
  const entry = { time: '', requestId: '', method: '', path: '', status, durationMs: 0 }
  expect(JSON.parse(logLine(entry)).level).toBe(level)
})

test('the cause of an internal error is logged, a mistake of the caller is not', () => {
  const entry = {
    time: '',
    requestId: '',
    method: '',
    path: '',
    durationMs: 0,
    cause: new Error('disk on fire'),
  }
  expect(JSON.parse(logLine({ ...entry, status: 500 })).error).toContain('disk on fire')
  expect(logLine({ ...entry, status: 400 })).not.toContain('disk on fire')
})
