import nock from 'nock'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { courses } from '../../src/contract/courses.ts'
import { origin, type Trial, testCaller } from './harness.ts'
import { useNock } from './own-nock.ts'

let run: Trial

useNock()

beforeEach(() => {
  run = testCaller()
})

afterEach(async () => {
  const pending = nock.pendingMocks()
  nock.cleanAll()
  await run.close()
  expect(pending).toEqual([])
})

const body = { title: 'Algebra' }
const dropped = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
const openapi = (document: object | string, status = 200) =>
  nock(origin).get('/v1/openapi.json').reply(status, document)
const create = () => run.caller.call(courses.create, { body })
const remove = () => run.caller.call(courses.delete, { params: { courseId: 'crs_1' } })
const update = () =>
  run.caller.call(courses.update, {
    params: { courseId: 'crs_1' },
    body: { title: 'B', tags: ['x'] },
    ifMatch: 7,
  })

test('attempts of one POST share an Idempotency-Key, the next has another', { tags: ['slow'] }, async () => {
  const keys: string[] = []
  const note = (status: number) =>
    nock(origin)
      .post('/v1/courses', body)
      .reply((request: Request) => {
        keys.push(String(request.headers.get('idempotency-key')))
        return [status, { id: 'crs_1' }]
      })
  note(429)
  note(429)
  note(201)
  note(201)
  await create()
  await create()
  expect(keys[0]).toMatch(/^"[0-9a-f-]{36}"$/)
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).toBe(keys[0])
  expect(keys[3]).not.toBe(keys[0])
})

test('a key that was given is the one that is sent, and only a POST has one', async () => {
  nock(origin, { reqheaders: { 'idempotency-key': '"mine"' } })
    .post('/v1/courses')
    .reply(201, {})
  await run.caller.call(courses.create, { body, idempotencyKey: 'mine' })
  nock(origin, { badheaders: ['idempotency-key'] })
    .put('/v1/courses/crs_1')
    .reply(200, { version: 2 })
  await run.caller.call(courses.update, { params: { courseId: 'crs_1' }, body })
})

test.each([500, 502, 504])('after a %i a POST is repeated where the server honours keys', async (status) => {
  nock(origin).post('/v1/courses').reply(status).post('/v1/courses').reply(201, { id: 'crs_1' })
  openapi({ openapi: '3.1.0', 'x-idempotency': true })
  expect(await create()).toMatchObject({ data: { id: 'crs_1' }, status: 201 })
})

test('the server is asked once whether it honours keys', async () => {
  openapi({ 'x-idempotency': true })
  for (let round = 0; round < 2; round++) {
    nock(origin).post('/v1/courses').replyWithError(dropped).post('/v1/courses').reply(500)
    nock(origin).post('/v1/courses').reply(201, { id: 'crs_1' })
    await create()
  }
})

test.each([
  ['without the mark', 200, { openapi: '3.0.0' }],
  ['with the mark in another place', 200, { info: { 'x-idempotency': true } }],
  ['that is a page', 200, '<html></html>'],
  ['that is missing', 404, ''],
])(
  'a server with a description %s gets no second POST: it may have been carried out',
  async (_, status, document) => {
    nock(origin).post('/v1/courses').replyWithError(dropped)
    openapi(document, status)
    await expect(create()).rejects.toMatchObject({
      name: 'AmbiguousError',
      code: 'ambiguous',
      message: expect.stringMatching(/^POST \/v1\/courses may have succeeded: academy\.example closed/),
      cause: { name: 'ConnectionError', code: 'reset' },
    })
    expect(run.sleeps).toEqual([])
  },
)

test('a POST that never left is repeated anywhere, without a question', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  nock(origin).post('/v1/courses').replyWithError(refused).post('/v1/courses').reply(201, {})
  expect(await create()).toMatchObject({ status: 201 })
})

test('a POST whose every answer is lost stays ambiguous, one that is refused each time with 500 has failed', async () => {
  openapi({ 'x-idempotency': true })
  nock(origin).post('/v1/courses').times(4).replyWithError(dropped)
  await expect(create()).rejects.toMatchObject({ name: 'AmbiguousError' })
  nock(origin).post('/v1/courses').times(4).reply(500)
  await expect(create()).rejects.toMatchObject({ name: 'ApiError', status: 500 })
})

test('a PATCH, which no key makes safe, is not repeated after an ambiguous fault', async () => {
  nock(origin).patch('/v1/courses/crs_1').replyWithError(dropped)
  const call = run.caller.send({ method: 'PATCH', path: '/v1/courses/crs_1', body: '{}' })
  await expect(call).rejects.toMatchObject({ name: 'AmbiguousError' })
})

test('after a 503 that a gateway may have sent a POST is repeated only where the server honours keys', async () => {
  nock(origin).post('/v1/courses').reply(503)
  openapi('', 404)
  await expect(create()).rejects.toMatchObject({ name: 'AmbiguousError', cause: { status: 503 } })
  const busy = { type: 'about:blank', code: 'unavailable', detail: 'Busy', requestId: 'req_1' }
  nock(origin).post('/v1/courses').reply(503, busy).post('/v1/courses').reply(201, { id: 'crs_1' })
  expect(await create()).toMatchObject({ status: 201 })
})

test('a 404 on a repeated DELETE is success', async () => {
  nock(origin).delete('/v1/courses/crs_1').replyWithError(dropped)
  nock(origin).delete('/v1/courses/crs_1').reply(404, { code: 'not_found' })
  expect(await remove()).toMatchObject({ data: undefined, status: 204 })
})

test('a 404 on a DELETE that was only put off is no success', async () => {
  nock(origin).delete('/v1/courses/crs_1').reply(503)
  nock(origin).delete('/v1/courses/crs_1').reply(404, { code: 'not_found' })
  await expect(remove()).rejects.toMatchObject({ status: 404 })
})

test('a 412 on a repeated PUT is settled by one GET when the resource says what was sent', async () => {
  nock(origin, { reqheaders: { 'if-match': '"7"' } })
    .put('/v1/courses/crs_1')
    .replyWithError(dropped)
    .put('/v1/courses/crs_1')
    .reply(412, { code: 'precondition_failed' })
  nock(origin)
    .get('/v1/courses/crs_1')
    .reply(200, { title: 'B', tags: ['x'], more: 1 }, { ETag: '"8"' })
  nock(origin, { reqheaders: { 'if-match': '"8"' } })
    .put('/v1/courses/crs_1')
    .reply(200, { version: 8 })
  expect(await update()).toMatchObject({ data: { version: 8 }, status: 200 })
})

test.each([
  { title: 'B', tags: ['y'] },
  { title: 'B' },
  { title: 'C', tags: ['x'] },
  { title: 'B', tags: ['x', 'y'] },
])('a 412 on a repeated PUT stands when the resource says %j', async (resource) => {
  nock(origin).put('/v1/courses/crs_1').reply(504)
  nock(origin).put('/v1/courses/crs_1').reply(412, { code: 'precondition_failed' })
  nock(origin).get('/v1/courses/crs_1').reply(200, resource, { ETag: '"8"' })
  await expect(update()).rejects.toMatchObject({ status: 412, code: 'precondition_failed' })
})

test('a 412 on a PUT that was not repeated stands without a question', async () => {
  nock(origin).put('/v1/courses/crs_1').reply(412, { code: 'precondition_failed' })
  await expect(update()).rejects.toMatchObject({ status: 412 })
})
