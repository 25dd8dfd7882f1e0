import { expect } from 'vitest'
import { logLine } from '../../../src/server/http/log.ts'
import { day, test } from '../../helpers/academy.ts'

const password = 'correct horse battery'

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

test('no secret gets into the log, by whatever way it comes', async ({ academy, admin, clock }) => {
  const made = await admin.post('/v1/keys', { name: 'a', expiresAt: '2026-03-02T00:00:00Z' })
  const json = { 'content-type': 'application/json' }
  await admin.post('/v1/users', { email: 'a@b.example', password })
  await admin.send('POST', '/v1/users', `{"email":"c@b.example","password":"${password}" oops`, json)
  await admin.send('POST', '/v1/users', `{"password":"${password}","password2":${password}}`, json)
  await admin.get(`/v1/courses?access_token=${made.body.key}`)
  await academy.bearer(`Bearer ${made.body.key.slice(0, -1)}x`).get('/v1/courses')
  clock.advance(day)
  await academy.bearer(`Bearer ${made.body.key}`).get('/v1/courses')
  const log = academy.logged.map(logLine).join('')
  expect(log).toContain(`"credential":"key_`)
  for (const secret of [password, 'correct', 'horse', admin.key, made.body.key, made.body.key.slice(4, 20)]) {
    expect(log).not.toContain(secret)
  }
})
