import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { day, test } from '../helpers/academy.ts'

test('a refusal is problem details with a code, the path and the id of the request', async ({ admin }) => {
  const answer = await admin.get('/v1/courses/crs_none?')
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.body).toEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'There is no course crs_none.',
    instance: '/v1/courses/crs_none',
    code: 'not_found',
    requestId: answer.headers.get('x-request-id'),
  })
})

test('every fault of a body is told at once, each with its place and code', async ({ admin }) => {
  const answer = await admin.post('/v1/courses', {
    titel: 'Logic',
    difficulty: 'expart',
    durationMinutes: 1.5,
    learningObjectives: ['ok', ''],
    modules: [{ title: 'One', ordr: 1 }, { title: 7 }],
    assessmentCriteria: {
      passingScore: 101,
      weights: [
        { name: 'a', weight: 60 },
        { name: 'b', weight: 50 },
      ],
    },
    adaptiveDifficulty: { raiseAtScore: 40 },
    language: 'no such language',
    externalId: 'a\u0000b',
    version: 3,
  })
  expect(answer).toMatchObject({
    status: 422,
    body: { code: 'validation_failed', title: 'Unprocessable Content' },
  })
  const places = answer.body.errors.map(
    (fault: Record<string, string>) => `${fault['pointer']} ${fault['code']}`,
  )
  expect(places.sort()).toEqual([
    '#/adaptiveDifficulty/lowerAtScore out_of_order',
    '#/assessmentCriteria/passingScore out_of_range',
    '#/assessmentCriteria/weights weights_exceed_100',
    '#/difficulty invalid_choice',
    '#/durationMinutes invalid_type',
    '#/externalId invalid_string',
    '#/language invalid_language',
    '#/learningObjectives/1 too_short',
    '#/modules/0/ordr unknown_field',
    '#/modules/1/title invalid_type',
    '#/titel unknown_field',
    '#/title required',
    '#/version read_only',
  ])
  expect(answer.body.detail).toMatch(/^13 faults, the first: /)
})

test.for([
  ['titel', 'title'],
  ['Title', 'title'],
  ['tag', 'tags'],
  ['dificulty', 'difficulty'],
  ['learning_objectives', 'learningObjectives'],
])('the unknown field %s is told as a near miss of %s', async ([sent = '', meant], { admin }) => {
  const { body } = await admin.post('/v1/courses', { title: 'Logic', [sent]: 'x' })
  expect(body.errors).toEqual([
    { pointer: `#/${sent}`, code: 'unknown_field', detail: `is not known; did you mean ${meant}?` },
  ])
})

test('near misses are told inside objects and arrays, in choices and in parameters', async ({ admin }) => {
  const { body } = await admin.post('/v1/courses', {
    title: 'Logic',
    difficulty: 'begginer',
    modules: [{ title: 'One', descripton: '' }],
    progressTracking: { enable: true },
  })
  expect(body.errors.map(({ detail }: { detail: string }) => detail)).toEqual([
    'must be one of beginner, intermediate, advanced, expert; did you mean beginner?',
    'is not known; did you mean description?',
    'is not known; did you mean enabled?',
  ])
  const query = await admin.get('/v1/courses?dificulty=expert&status=publishd&limit=x')
  expect(query).toMatchObject({ status: 400, body: { code: 'unknown_parameter' } })
  expect(query.body.errors).toEqual([
    { parameter: 'dificulty', code: 'unknown_parameter', detail: 'is not known; did you mean difficulty?' },
    {
      parameter: 'status',
      code: 'invalid_choice',
      detail: 'must be one of draft, published, archived; did you mean published?',
    },
    { parameter: 'limit', code: 'invalid_type', detail: 'must be a number' },
  ])
})

test('a parameter comes once, and those of the prototype are unknown like any other', async ({ admin }) => {
  expect((await admin.get('/v1/courses?limit=1&limit=2')).body.errors).toEqual([
    { parameter: 'limit', code: 'repeated', detail: 'must be given once only' },
  ])
  const { body } = await admin.get('/v1/courses?toString=1&__proto__=2&constructor=3')
  expect(body.errors.map(({ code }: { code: string }) => code)).toEqual(Array(3).fill('unknown_parameter'))
})

test('a question mark in a query is part of it', async ({ admin }) => {
  await admin.post('/v1/courses', { title: 'Why? How?' })
  await admin.post('/v1/courses', { title: 'Why not' })
  expect((await admin.get('/v1/courses?q=why?%20how?&include_total=true')).body.total).toBe(1)
})

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
  ['', 'The body is not JSON: it is empty.'],
  ['{"title": "Logic"', 'The body is not JSON: '],
  ['{"title": NaN}', 'The body is not JSON: '],
])('the body %j is 400 invalid_json', async ([text = '', detail = ''], { admin }) => {
  const answer = await admin.send('POST', '/v1/courses', text, { 'content-type': 'application/json' })
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  expect(answer.body.detail).toContain(detail)
})

test('a body that is not UTF-8 is 400 invalid_json', async ({ admin }) => {
  const latin1 = Buffer.from('{"title":"Caf\u00e9"}', 'latin1')
  const answer = await admin.send('POST', '/v1/courses', latin1, { 'content-type': 'application/json' })
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'invalid_json', detail: 'The body is not UTF-8.' },
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

test('a body may be nested 32 deep, and however deep it is, it is refused in order', async ({ admin }) => {
  const send = (body: string) =>
    admin.send('POST', '/v1/courses', body, { 'content-type': 'application/json' })
  const codes = ({ body }: { body: { errors: { code: string }[] } }) => body.errors.map(({ code }) => code)
  expect(codes(await send(nested(31)))).not.toContain('too_deep')
  expect(codes(await send(nested(32)))).toContain('too_deep')
  expect(codes(await send(nested(500_000)))).toContain('too_deep')
  const objects = `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`
  expect(codes(await send(objects))).toContain('too_deep')
})

test('an array has at most 1,000 items', async ({ admin }) => {
  const tags = Array.from({ length: 1001 }, (_, index) => `tag ${index}`)
  expect((await admin.post('/v1/courses', { title: 'Logic', tags })).body.errors).toEqual([
    { pointer: '#/tags', code: 'too_long', detail: expect.any(String) },
  ])
})

test('a number too large for JSON numbers is refused', async ({ admin }) => {
  const answer = await admin.send('POST', '/v1/courses', '{"title":"Logic","durationMinutes":1e999}', {
    'content-type': 'application/json',
  })
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/durationMinutes' }] } })
})

test('another method is 405 and told which ones there are', async ({ admin }) => {
  const answer = await admin.send('PATCH', '/v1/courses/crs_none', '{}', {
    'content-type': 'application/json',
  })
  expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
  expect(answer.headers.get('allow')).toBe('HEAD, GET, PUT, DELETE')
  expect((await admin.send('OPTIONS', '/v1/progress/batch')).headers.get('allow')).toBe('POST')
})

test('what is named in the path is 404 before the body is 422', async ({ admin }) => {
  expect((await admin.put('/v1/courses/crs_none', { titel: 1 })).status).toBe(404)
  expect((await admin.put('/v1/learners/usr_none/progress', {})).status).toBe(404)
  expect((await admin.get('/v1/nothing')).body.code).toBe('not_found')
})

test('a path and query of more than 8 KiB is 414', async ({ admin }) => {
  const room = 8 * 1024 - '/v1/courses?q='.length
  expect((await admin.get(`/v1/courses?q=${'a'.repeat(room)}`)).status).toBe(400)
  expect(await admin.get(`/v1/courses?q=${'a'.repeat(room + 1)}`)).toMatchObject({
    status: 414,
    body: { code: 'uri_too_long' },
  })
})

test('a body of 1 MiB is read, one byte more is 413', async ({ admin }) => {
  const head = '{"title":"Logic","description":"'
  const body = (bytes: number) => `${head}${'a'.repeat(bytes - head.length - 2)}"}`
  const send = (bytes: number) =>
    admin.send('POST', '/v1/courses', body(bytes), { 'content-type': 'application/json' })
  expect((await send(2 ** 20)).body.errors[0].code).toBe('too_long')
  expect(await send(2 ** 20 + 1)).toMatchObject({ status: 413, body: { code: 'content_too_large' } })
})

test('a fault inside tells nothing of the inside, and the log has its cause', async ({ academy, admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  academy.database.run(sql`update courses set attributes = '{' where id = ${course.id}`)
  const answer = await admin.get(`/v1/courses/${course.id}`)
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } })
  expect(answer.text).not.toMatch(/JSON|sql|\.ts/i)
  expect(academy.logged.at(-1)).toMatchObject({
    status: 500,
    requestId: answer.body.requestId,
    cause: expect.any(SyntaxError),
  })
})

test('every response forbids sniffing, caching, framing and embedding', async ({ academy, admin, clock }) => {
  const anybody = academy.bearer(undefined)
  clock.advance(day)
  for (const answer of [
    await anybody.get('/health'),
    await anybody.get('/v1/courses'),
    await anybody.get('/nowhere'),
    await admin.delete('/v1/courses'),
    await admin.get('/v1/courses'),
    await admin.get('/v1/analytics/learners?format=csv'),
  ]) {
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'x-request-id': expect.stringMatching(/^req_/),
    })
    expect(answer.headers.get('server')).toBeNull()
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  }
})
