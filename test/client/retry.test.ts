import nock from 'nock'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { retryAfterOf } from '../../src/client/problem.ts'
import { courses } from '../../src/contract/courses.ts'
import { origin, type Trial, testCaller } from './harness.ts'
import { useNock } from './own-nock.ts'

let run: Trial

useNock()

beforeEach(() => {
  run = testCaller()
})

afterEach(async () => {
  await run.close()
  nock.abortPendingRequests()
  nock.cleanAll()
})

const page = { data: [], nextCursor: null }
const problem = (status: number, code: string, more = {}) => ({
  title: 'T',
  status,
  code,
  detail: code,
  ...more,
})

test.each([408, 429, 500, 502, 503, 504])('after four attempts a %i is thrown as it is', async (status) => {
  const scope = nock(origin).get('/v1/courses').times(4).reply(status, problem(status, 'unavailable'))
  await expect(run.caller.call(courses.list)).rejects.toMatchObject({
    name: 'ApiError',
    status,
    code: 'unavailable',
  })
  expect(scope.isDone()).toBe(true)
  expect(run.sleeps).toEqual([125, 250, 500])
  expect(run.waits).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3, attempts: 4, waitMs: 500 }])
})

test.each([400, 401, 403, 404, 409, 412, 413, 415, 422])('a %i is not asked again', async (status) => {
  nock(origin).put('/v1/courses/c').reply(status, problem(status, 'not_found'))
  const call = run.caller.call(courses.update, { params: { courseId: 'c' }, body: {} })
  await expect(call).rejects.toMatchObject({ name: 'ApiError', status })
  expect(run.sleeps).toEqual([])
})

test('a 409 of a request still in progress is asked again', async () => {
  nock(origin).post('/v1/courses').reply(409, problem(409, 'idempotency_in_progress'))
  nock(origin).post('/v1/courses').reply(201, { id: 'crs_1' }, { 'Idempotent-Replayed': 'true', ETag: '"1"' })
  expect(await run.caller.call(courses.create, { body: { title: 'X' } })).toMatchObject({
    replayed: true,
    etag: '"1"',
  })
})

test('the jitter is full, doubles and ends at eight seconds', async () => {
  const highest = testCaller({ random: () => 0.999999, attempts: 9 })
  nock(origin).get('/v1/courses').times(9).reply(503)
  await expect(highest.caller.call(courses.list)).rejects.toMatchObject({ status: 503 })
  expect(highest.sleeps).toEqual([249, 499, 999, 1999, 3999, 7999, 7999, 7999])
  const lowest = testCaller({ random: () => 0, attempts: 2 })
  nock(origin).get('/v1/courses').times(2).reply(503)
  await expect(lowest.caller.call(courses.list)).rejects.toMatchObject({ status: 503 })
  expect(lowest.sleeps).toEqual([0])
  await Promise.all([highest.close(), lowest.close()])
})

test('Retry-After as a date counts from the server’s own clock where it sends one', async () => {
  const date = 'Sat, 31 Jan 2026 09:30:05 GMT'
  nock(origin).get('/v1/courses').reply(503, '', { 'Retry-After': date })
  nock(origin)
    .get('/v1/courses')
    .reply(503, '', { 'Retry-After': date, Date: 'Sat, 31 Jan 2026 09:30:03 GMT' })
  nock(origin).get('/v1/courses').reply(200, page)
  await run.caller.call(courses.list)
  expect(run.sleeps).toEqual([5125, 2250])
})

test('more patience than there is ends the call at once, with the time', async () => {
  nock(origin).get('/v1/courses').reply(429, problem(429, 'rate_limited'), { 'Retry-After': '61' })
  await expect(run.caller.call(courses.list)).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 61_000,
  })
  expect(run.sleeps).toEqual([])
})

test.each([
  ['0', 0],
  ['120', 120_000],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['', null],
  ['1000000000000000', null],
  ['Sunday, 01-Feb-26 00:00:00 GMT', 52_200_000],
  ['Sun Feb  1 00:00:00 2026', 52_200_000],
  ['Sat, 31 Jan 2026 09:00:00 GMT', 0],
])('Retry-After %j is %j', (value, expected) => {
  const headers = { 'retry-after': value }
  expect(retryAfterOf({ status: 503, headers, body: null }, Date.parse('2026-01-31T09:30:00Z'))).toBe(
    expected,
  )
})

test('a connection that fails is tried again, an untrusted certificate is not', async () => {
  const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  nock(origin).get('/v1/courses').replyWithError(reset).get('/v1/courses').reply(200, page)
  await run.caller.call(courses.list)
  expect(run.sleeps).toEqual([125])
  const untrusted = Object.assign(new Error('self-signed certificate'), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  nock(origin).get('/v1/courses').replyWithError(untrusted)
  await expect(run.caller.call(courses.list)).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'tls',
  })
  expect(run.sleeps).toHaveLength(1)
})

test('an aborted call ends with its reason, also in the middle of a wait', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const waiting = testCaller({
    sleep: async (_, signal) => {
      controller.abort(reason)
      signal?.throwIfAborted()
    },
  })
  nock(origin).get('/v1/courses').reply(503)
  await expect(waiting.caller.call(courses.list, { signal: controller.signal })).rejects.toBe(reason)
  await expect(waiting.caller.call(courses.list, { signal: controller.signal })).rejects.toBe(reason)
  await waiting.close()
})

test('each attempt is reported, with its status or its fault', async () => {
  const reports: unknown[] = []
  const watched = testCaller({ onExchange: (report) => reports.push(report) })
  nock(origin).get('/v1/courses').reply(503, '', { 'X-Request-Id': 'a' })
  nock(origin).get('/v1/courses').replyWithError('gone')
  nock(origin).get('/v1/courses').reply(200, page)
  await watched.caller.call(courses.list)
  const url = `${origin}/v1/courses`
  expect(reports).toMatchObject([
    { method: 'GET', url, attempt: 1, status: 503, requestId: 'a', error: null, durationMs: 0 },
    { attempt: 2, status: null, error: { name: 'ConnectionError', code: 'failed' } },
    { attempt: 3, status: 200, error: null },
  ])
  await watched.close()
})
