import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { day, onPostgres, test } from '../../helpers/academy.ts'

test('a refusal is problem details with a code, the path and the id of the request', async ({ admin }) => {
  const answer = await admin.get('/v1/courses/crs_none?')
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.body).toEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'Course crs_none not found.',
    instance: '/v1/courses/crs_none',
    code: 'not_found',
    requestId: answer.headers.get('x-request-id'),
  })
})

test('all faults of a body are reported at once, each with its place and code', async ({ admin }) => {
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
  expect(answer.body.detail).toMatch(/^13 problems found: \w.*, .* and 3 more places\.$/)
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
    { pointer: `#/${sent}`, code: 'unknown_field', detail: `is not a known field; did you mean ${meant}?` },
  ])
})

test('near misses are suggested inside objects and arrays, in choices and in parameters', {
  tags: ['slow'],
}, async ({ admin }) => {
  const { body } = await admin.post('/v1/courses', {
    title: 'Logic',
    difficulty: 'begginer',
    modules: [{ title: 'One', descripton: '' }],
    progressTracking: { enable: true },
  })
  expect(body.errors.map(({ detail }: { detail: string }) => detail)).toEqual([
    'must be one of beginner, intermediate, advanced, expert; did you mean beginner?',
    'is not a known field; did you mean description?',
    'is not a known field; did you mean enabled?',
  ])
  const query = await admin.get('/v1/courses?dificulty=expert&status=publishd&limit=x')
  expect(query).toMatchObject({
    status: 400,
    body: { code: 'unknown_parameter', detail: '3 problems found: dificulty, status, limit.' },
  })
  expect((await admin.get('/v1/courses?dificulty=expert')).body.detail).toBe(
    'Unknown parameter: dificulty; did you mean difficulty?',
  )
  expect(query.body.errors).toEqual([
    {
      parameter: 'dificulty',
      code: 'unknown_parameter',
      detail: 'is not a known parameter; did you mean difficulty?',
    },
    {
      parameter: 'status',
      code: 'invalid_choice',
      detail: 'must be one of draft, published, archived; did you mean published?',
    },
    { parameter: 'limit', code: 'invalid_type', detail: 'must be a number' },
  ])
})

test('a parameter that is no list comes once, and those of the prototype are unknown like any other', async ({
  admin,
}) => {
  expect((await admin.get('/v1/courses?limit=1&limit=2')).body.errors).toEqual([
    { parameter: 'limit', code: 'repeated', detail: 'must be given only once' },
  ])
  const { body } = await admin.get('/v1/courses?toString=1&__proto__=2&constructor=3')
  expect(body.errors.map(({ code }: { code: string }) => code)).toEqual(Array(3).fill('unknown_parameter'))
})

test('another method is 405 and gets the allowed ones', async ({ admin }) => {
  const answer = await admin.post('/v1/courses/crs_none', {})
  expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
  expect(answer.headers.get('allow')).toBe('HEAD, GET, PUT, PATCH, DELETE, OPTIONS')
  const wrong = await admin.get('/v1/progress/batch')
  expect(wrong).toMatchObject({
    status: 405,
    body: { detail: 'GET is not supported here; use POST, OPTIONS.' },
  })
})

test('OPTIONS lists the methods of a path, to anyone', async ({ academy }) => {
  const ask = (path: string) => academy.bearer(undefined).send('OPTIONS', path)
  const item = await ask('/v1/courses/crs_none')
  expect(item).toMatchObject({ status: 204, text: '' })
  expect(item.headers.get('allow')).toBe('HEAD, GET, PUT, PATCH, DELETE, OPTIONS')
  expect(item.headers.get('accept-patch')).toBe('application/merge-patch+json, application/json')
  // "batch" may be the name of a user, so GET is valid there.
  expect((await ask('/v1/users/batch')).headers.get('allow')).toBe(
    'HEAD, POST, GET, PUT, PATCH, DELETE, OPTIONS',
  )
  expect((await ask('/oauth/token')).headers.get('allow')).toBe('POST, OPTIONS')
  expect((await ask('/v1/courses')).headers.get('accept-patch')).toBeNull()
  expect((await ask('/v1/nothing')).status).toBe(404)
})

test('HEAD has the headers of GET, the length among them', async ({ admin }) => {
  for (const path of ['/v1/courses', '/v1/openapi.json', '/v1/courses/crs_none']) {
    const [got, asked] = [await admin.get(path), await admin.send('HEAD', path)]
    expect(asked, path).toMatchObject({ status: got.status, text: '' })
    expect(asked.headers.get('etag'), path).toBe(got.headers.get('etag'))
    expect(asked.headers.get('content-type'), path).toBe(got.headers.get('content-type'))
    expect(asked.headers.get('content-length'), path).toBe(String(Buffer.byteLength(got.text)))
  }
})

test('a missing record in the path is 404 before the body is 422', { tags: ['slow'] }, async ({ admin }) => {
  expect((await admin.put('/v1/courses/crs_none', { titel: 1 })).status).toBe(404)
  expect((await admin.put('/v1/learners/usr_none/progress', {})).status).toBe(404)
  expect((await admin.get('/v1/nothing')).body.code).toBe('not_found')
})

// PostgreSQL does not store an invalid document.
test.skipIf(onPostgres)(
  'a fault inside tells nothing of the inside, and the log has its cause',
  async ({ academy, admin }) => {
    const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
    await academy.database.run(sql`update courses set attributes = '{' where id = ${course.id}`)
    const answer = await admin.put(`/v1/courses/${course.id}`, { title: 'Rhetoric' })
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } })
    expect(answer.text).not.toMatch(/JSON|sql|\.ts/i)
    expect(academy.logged.at(-1)).toMatchObject({
      status: 500,
      requestId: answer.body.requestId,
      cause: expect.any(SyntaxError),
    })
  },
)

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
