import { expect, test } from 'vitest'
import { errorOf } from '../../src/client/problem.ts'
import { readJson } from '../../src/client/reply.ts'

const target = { method: 'GET', url: 'https://academy.example/v1/courses?limit=2' }
const now = () => 0

test.each([
  ['text/html; charset=utf-8', '<html><body>Sign in</body></html>', 'html'],
  ['application/json', '\n<!DOCTYPE html><p>Sign in', 'html'],
  ['application/json', '{"data": [{"id": "crs_1", "ti', 'not_json'],
  ['application/json', 'OK\u001b[31m', 'not_json'],
])('a %s answer of %j is one clear line', async (type, body, code) => {
  const reply = { status: 200, headers: { 'content-type': type }, body }
  const error = await readJson(target, reply).catch((fault: unknown) => fault)
  expect(error).toMatchObject({ name: 'ProtocolError', code })
  expect(String(error)).toMatch(
    /^ProtocolError: The response from academy\.example to GET \/v1\/courses is [\x20-\x7e]+$/,
  )
})

test('a problem is read whole, with its faults', async () => {
  const body = {
    type: 'about:blank',
    title: 'Unprocessable Content',
    status: 422,
    detail: '2 faults',
    instance: '/v1/courses',
    code: 'validation_failed',
    requestId: 'req_1',
    errors: [{ pointer: '#/title', code: 'too_short', detail: 'must not be empty' }],
  }
  const headers = { 'content-type': 'application/problem+json' }
  const reply = { status: 422, headers, body: JSON.stringify(body) }
  expect(await errorOf(target, reply, 'api_key', now)).toMatchObject({
    name: 'ApiError',
    message: '2 faults',
    status: 422,
    code: 'validation_failed',
    coded: true,
    faults: body.errors,
    requestId: 'req_1',
    problem: body,
  })
})

test.each([
  [
    403,
    '{"message":"Expired key"}',
    'application/json',
    { code: 'expired_key', coded: false, detail: 'Expired key' },
  ],
  [404, '{"error":{"message":"No","code":"E4"}}', 'application/json', { code: 'not_found', detail: 'No' }],
  [404, '{"code":"RESOURCE_MISSING"}', 'application/json', { code: 'not_found', coded: false }],
  [409, '{"code":"taken"}', 'application/problem+json', { code: 'taken', coded: true }],
  [
    409,
    '{"code":"duplicate","errors":"no"}',
    'application/json',
    { code: 'duplicate', coded: true, faults: [] },
  ],
  [500, 'database is down\n', 'text/plain', { code: 'internal', detail: 'database is down' }],
  [502, '<h1>Bad Gateway</h1>', 'text/html', { detail: 'academy.example returned 502 (GET /v1/courses)' }],
  [418, '', '', { code: 'http_418', detail: 'academy.example returned 418 (GET /v1/courses)' }],
])('a %i answer of %j is read for what it says', async (status, body, type, expected) => {
  const reply = { status, headers: { 'content-type': type, 'x-request-id': 'r7' }, body }
  expect(await errorOf(target, reply, 'api_key', now)).toMatchObject({ ...expected, status, requestId: 'r7' })
})

test.each<[string, readonly string[]]>([
  ['Bearer realm="x", error="insufficient_scope", scope="write"', ['write']],
  ['Bearer error=insufficient_scope', []],
  ['bearer scope="courses:write admin", Error="insufficient_scope"', ['courses:write', 'admin']],
  ['Basic realm="x", Bearer error="insufficient_scope", scope="$(id) write"', ['write']],
])('a 403 whose challenge is %j is about scopes, also without a code', async (challenge, neededScopes) => {
  const reply = () => ({ status: 403, headers: { 'www-authenticate': challenge }, body: '{}' })
  const expected = { code: 'insufficient_scope', coded: false, neededScopes }
  expect(await errorOf(target, reply(), 'api_key', now)).toMatchObject(expected)
  expect(await errorOf(target, reply(), 'access_token', now)).toMatchObject(expected)
})

test.each([
  [401, 'Bearer error="insufficient_scope", scope="write"', 'invalid_token'],
  [403, 'Bearer error="invalid_token", error_description="no insufficient_scope"', 'forbidden'],
  [403, 'Bearer realm="error=insufficient_scopes"', 'forbidden'],
])('a %i with the challenge %j is not', async (status, challenge, code) => {
  const reply = { status, headers: { 'www-authenticate': challenge }, body: '{}' }
  expect(await errorOf(target, reply, 'access_token', now)).toMatchObject({ code, neededScopes: [] })
})

test('a problem is read up to 64 KiB, then left', async () => {
  let pulled = 0
  const body = (async function* () {
    for (;;) {
      pulled += 1
      yield new Uint8Array(16 * 1024)
    }
  })()
  expect(await errorOf(target, { status: 500, headers: {}, body }, null, now)).toMatchObject({
    code: 'internal',
  })
  expect(pulled).toBeLessThan(10)
})
