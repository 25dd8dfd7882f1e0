import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { test } from '../../helpers/academy.ts'

test('names of the prototype in a body are unknown fields and change nothing', async ({ admin }) => {
  const answer = await admin.send(
    'POST',
    '/v1/courses',
    '{"title":"Logic","__proto__":{"status":"published"},"constructor":1}',
    { 'content-type': 'application/json' },
  )
  expect(answer.status).toBe(422)
  expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '#/__proto__',
    '#/constructor',
  ])
})

test.for([
  ['', 'The body is not valid JSON: it is empty.'],
  ['{"title": "Logic"', 'The body is not valid JSON: it ends too early at line 1, column 18.'],
  ['{"title": NaN}', 'The body is not valid JSON: unexpected character at line 1, column 11.'],
  [
    '{\n  "password": top secret\n}',
    'The body is not valid JSON: unexpected character at line 2, column 15.',
  ],
])('the body %j is 400 invalid_json', async ([text = '', detail = ''], { admin }) => {
  const answer = await admin.send('POST', '/v1/courses', text, { 'content-type': 'application/json' })
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  expect(answer.body.detail).toBe(detail)
})

test('a body that is not UTF-8 is 400 invalid_json', async ({ admin }) => {
  const latin1 = Buffer.from('{"title":"Caf\u00e9"}', 'latin1')
  const answer = await admin.send('POST', '/v1/courses', latin1, { 'content-type': 'application/json' })
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'invalid_json', detail: 'The body must be UTF-8.' },
  })
})

test.for([
  ['\ud800', 'title'],
  ['a\udc00b', 'title'],
  ['nul\u0000', 'description'],
])('text that is not well-formed (%j) is refused, not mended', async ([text, field = ''], { admin }) => {
  const answer = await admin.post('/v1/courses', { title: 'Logic', [field]: text })
  expect(answer).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: `#/${field}`, code: 'invalid_string' }] },
  })
})

test('text comes back as it was sent, not normalised', async ({ admin }) => {
  const title = 'Cafe\u0301 \u00c5 \ufb01 👩🏽‍🚀 \u202eabc'
  expect((await admin.post('/v1/courses', { title })).body.title).toBe(title)
})

function nested(depth: number): string {
  return `{"title":"Logic","modules":${'['.repeat(depth)}${']'.repeat(depth)}}`
}

test('a body may be nested 32 deep, and however deep it is, it is refused in order', {
  tags: ['slow'],
}, async ({ admin }) => {
  const send = (body: string) =>
    admin.send('POST', '/v1/courses', body, { 'content-type': 'application/json' })
  const codes = ({ body }: { body: { errors: { code: string }[] } }) => body.errors.map(({ code }) => code)
  expect(codes(await send(nested(31)))).not.toContain('too_deep')
  expect(codes(await send(nested(32)))).toContain('too_deep')
  expect(codes(await send(nested(500_000)))).toContain('too_deep')
  const objects = `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`
  expect(codes(await send(objects))).toContain('too_deep')
})

test('a number too large for JSON numbers is refused', async ({ admin }) => {
  const answer = await admin.send('POST', '/v1/courses', '{"title":"Logic","durationMinutes":1e999}', {
    'content-type': 'application/json',
  })
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/durationMinutes' }] } })
})

test.for([
  ['application/json; charset=utf-8', 201],
  ['Application/JSON;Charset="UTF-8"', 201],
  ['application/json; charset=iso-8859-1', 415],
  ['application/json;charset=utf-16', 415],
  ['text/json', 415],
] as const)('a body of type %s is %d', async ([type, status], { admin }) => {
  const answer = await admin.send('POST', '/v1/courses', '{"title":"Logic"}', { 'content-type': type })
  expect(answer.status).toBe(status)
})

test('a compressed body is 415, and the response says how to send it', async ({ admin }) => {
  const send = (coding: string) =>
    admin.send('POST', '/v1/courses', gzipSync('{"title":"Logic"}'), {
      'content-type': 'application/json',
      'content-encoding': coding,
    })
  const answer = await send('gzip')
  expect(answer).toMatchObject({
    status: 415,
    body: {
      code: 'unsupported_media_type',
      detail: 'Content-Encoding gzip is not supported; send the body uncompressed.',
    },
  })
  expect(answer.headers.get('accept-encoding')).toBe('identity')
  expect((await send('br, identity')).status).toBe(415)
  const plain = await admin.post('/v1/courses', { title: 'Logic' }, { 'content-encoding': 'Identity' })
  expect(plain.status).toBe(201)
})

test.for([
  ['POST', '/v1/courses', 'accept-post', 'application/json'],
  ['PUT', '/v1/courses/crs_1', 'accept', 'application/json, application/merge-patch+json'],
  ['PATCH', '/v1/courses/crs_1', 'accept-patch', 'application/json, application/merge-patch+json'],
] as const)('a 415 to %s names what is taken', async ([method, path, header, types], { admin }) => {
  const answer = await admin.send(method, path, '<title/>', { 'content-type': 'text/xml' })
  expect(answer.status).toBe(415)
  expect(answer.headers.get(header)).toBe(types)
})
