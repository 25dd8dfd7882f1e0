import { describe, expect } from 'vitest'
import { version } from '../../src/contract/version.ts'
import { type Answer, json, test } from '../helpers/odd-platform.ts'
import { expectClearError } from '../helpers/result.ts'

const refuse = (body: unknown, status = 422) => json(status, JSON.stringify(body))
const page: Answer = (response) =>
  response.writeHead(403, { 'content-type': 'text/html' }).end('<!doctype html><title>Blocked</title>')
const text =
  (body: string): Answer =>
  (response) =>
    response.writeHead(403, { 'content-type': 'text/plain' }).end(body)

describe('problems that another platform reports are shown', () => {
  test('by flag, where the flag was typed, in whatever case the field is written', async ({ platform }) => {
    platform.answer(refuse({ errors: [{ field: 'external_id', message: 'has been taken' }] }))
    const ran = await platform.run('courses create --title Sea --external-id sea')
    expectClearError(ran, 2, 'error: --external-id has been taken\n')
  })

  test('once, where the field is named in the message, too', async ({ platform }) => {
    platform.answer(refuse({ errors: { title: 'title is too short' } }))
    expectClearError(await platform.run('courses create --title x'), 2, 'error: --title is too short\n')
  })

  test('by field, where it came from a file', async ({ platform }) => {
    platform.answer(refuse({ detail: [{ loc: ['body', 'title'], msg: 'Field required', type: 'missing' }] }))
    const ran = await platform.run('courses create --body -', { stdin: '{"tags": []}' })
    expectClearError(ran, 2, 'error: title: Field required\n')
  })

  test('all of it, up to a hundred lines; all under -o json', async ({ platform }) => {
    const errors = Array.from({ length: 500 }, (_, n) => `Module ${n} has no title`)
    platform.answer(refuse({ message: 'Invalid', errors }))
    const ran = await platform.run('courses create --title Sea')
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(/^error: 500 problems found:\n {2}Module 0 has no title\n/)
    expect(ran.stderr).toMatch(/\n {2}Module 99 .*\n {2}… and 400 more\n$/)
    const { stderr } = await platform.run('courses create --title Sea -o json')
    expect(JSON.parse(stderr).error.details).toHaveLength(500)
  })

  test('ten unknown fields of many, and every other problem', async ({ platform }) => {
    const unknown = Array.from({ length: 90 }, (_, n) => ({
      field: `x${n}`,
      code: 'unknown_field',
      message: '-',
    }))
    platform.answer(refuse({ errors: [...unknown, { field: 'title', message: 'is required' }] }))
    const { stderr } = await platform.run('courses create --title Sea')
    expect(stderr).toMatch(
      /^error: 91 problems found:\n( {2}Unknown field: x\d\n){10} {2}--title is required\n {2}… and 80 more\n$/,
    )
  })

  test('with its control characters shown, not obeyed', async ({ platform }) => {
    platform.answer(refuse([{ field: 'ti\u001b]0;x\u0007', message: 'No\u009b2J' }, 'b\u202e']))
    const ran = await platform.run('courses create --title Sea')
    expectClearError(ran, 2, '  ti\\x1b]0;x\\x07: No\\x9b2J\n  b\\u202e\n')
  })
})

describe('a reason that names a role', () => {
  test.for<[style: string, body: object, error: string]>([
    [
      'with the field in its own words',
      {
        error: {
          message: 'Validation failed',
          details: [{ path: 'role', message: 'role must be one of a, b' }],
        },
      },
      'error: --role must be one of a, b\n',
    ],
    [
      'under the words of the status',
      { message: ['role must be one of a, b'], error: 'Bad Request', statusCode: 422 },
      'error: role must be one of a, b\n',
    ],
  ])('is one line, %s', async ([, body, error], { platform }) => {
    platform.answer(refuse(body, 422))
    const { code, stderr } = await platform.run('users create --email ada@example.org --role learner')
    expect({ code, stderr }).toEqual({ code: 2, stderr: error })
  })
})

describe('a 403 to an API key', () => {
  test.for<[what: string, answer: Answer]>([
    ['no code', refuse({ message: 'Expired key' }, 403)],
    ['no body', (response) => response.writeHead(403).end()],
    ['the status for a code', refuse({ statusCode: 403, message: 'Forbidden', error: 'Forbidden' }, 403)],
    ['words for the status alone', refuse({ title: 'Access denied', error: '403 Forbidden' }, 403)],
    ['such words as plain text', text('Forbidden\n')],
    ['a text that says so', refuse({ error: 'Forbidden', message: 'This API key expired in May' }, 403)],
    ['a code that says so', refuse({ error: { code: 'API_KEY_EXPIRED' } }, 403)],
  ])('with %s means that it has expired', async ([, answer], { platform }) => {
    platform.answer(answer)
    expectClearError(
      await platform.run('courses list'),
      4,
      'hint: Set LEARNCTL_API_KEY to a valid credential',
    )
  })

  test.for<[what: string, answer: Answer, error: string]>([
    ['a web page', page, 'with a web page; a gateway or firewall may have refused it\n'],
    ['a code', refuse({ code: 'RBAC_DENIED', message: 'Not yours' }, 403), 'error: Not yours\n'],
    ['a code inside', refuse({ error: { status: 'PERMISSION_DENIED', message: 'No' } }, 403), 'error: No\n'],
    ['a code of a fault', refuse({ errors: [{ code: 'denied', detail: 'No' }] }, 403), 'error: No\n'],
    ['a code for an error', refuse({ error: 'access_denied' }, 403), 'error: access_denied\n'],
    ['a reason', refuse({ message: 'Insufficient permissions' }, 403), 'error: Insufficient permissions\n'],
    [
      'a reason beside the status',
      refuse({ error: 'Forbidden', reason: 'Not your role' }, 403),
      'Forbidden\n',
    ],
    ['a reason inside', refuse({ error: { message: 'Admins only' } }, 403), 'error: Admins only\n'],
    ['a reason in a list', refuse({ errors: ['Admins only'] }, 403), 'error: Admins only\n'],
    ['a reason as plain text', text('Admins only'), 'error: Admins only\n'],
    ['another thing that expired', refuse({ message: 'The trial has expired' }, 403), 'trial has expired\n'],
  ])('with %s means that it may not do this', async ([, answer, error], { platform }) => {
    platform.answer(answer)
    expectClearError(await platform.run('courses list'), 5, error)
  })
})

describe('a course that only the list could show, where the list answers', () => {
  test.for<[status: number, body: object, code: number]>([
    [403, { message: 'Forbidden' }, 4],
    [403, { message: 'Admins only' }, 5],
    [429, {}, 7],
    [500, {}, 1],
    [503, {}, 7],
  ])('%i %j, is not said to be missing', async ([status, body, code], { platform }) => {
    const list = refuse(body, status)
    platform.answer((response, request) => {
      if (request.url === '/v1/courses/1') response.writeHead(404).end()
      else list(response, request)
    })
    const ran = await platform.run('courses get 1 --retries 1')
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).not.toContain('has no course')
  })
})

describe('a failure with status 200', () => {
  test.for<[body: unknown, code: number]>([
    [{ code: 'UNAUTHENTICATED', message: 'Who are you' }, 4],
    [{ error: { code: 16, status: 'UNAUTHENTICATED', message: 'Who are you' } }, 4],
    [{ success: false, code: 'unauthorized' }, 4],
    [{ error: { code: 401, message: 'Who are you' } }, 4],
    [{ error: 'Unauthorized' }, 4],
    [{ code: 'PERMISSION_DENIED', message: 'No' }, 5],
    [{ success: false, code: 'FORBIDDEN', message: 'No' }, 5],
    [{ code: 'NOT_FOUND', message: 'No such course' }, 3],
    [{ success: false, message: 'Not Found' }, 3],
    [{ errors: [{ code: 'ALREADY_EXISTS', message: 'Twice' }] }, 6],
    [{ success: false, code: 'E_WEATHER', message: 'No' }, 1],
    [{ success: false, code: 'constructor', message: 'No' }, 1],
  ])('ends as its status would: %j', async ([body, code], { platform }) => {
    platform.answer(refuse(body, 200))
    const ran = await platform.run('courses create --title Sea')
    expect(ran).toMatchObject({ code, stdout: '' })
  })

  test.for<[status: number, body: unknown, code: number, stderr: string]>([
    [200, [{ errorCode: 'DUP' }], 1, 'error: HOST returned 200 with the error DUP (POST /v1/courses)\n'],
    [200, { success: false }, 1, 'error: HOST returned 200 with an error (POST /v1/courses)\n'],
    [202, { errors: ['Too late'] }, 1, 'error: Too late\n  HOST returned 202 (POST /v1/courses)\n'],
    [207, [{ error: 'Bad' }], 1, 'error: Bad\n  HOST returned 207 (POST /v1/courses)\n'],
    [
      207,
      [{ status: 409, errorCode: 'DUP' }],
      6,
      'error: HOST returned 207 with the status 409 and the error DUP (POST /v1/courses)\n',
    ],
    [422, { errorCode: 'DUP' }, 2, 'error: HOST returned 422 with the error DUP (POST /v1/courses)\n'],
  ])(
    'is told with the status that came and the words in it: %d %j',
    async ([status, body, code, stderr], { platform }) => {
      platform.answer(refuse(body, status))
      const ran = await platform.run('courses create --title Sea')
      expect(ran).toEqual({ code, stdout: '', stderr: stderr.replace('HOST', new URL(platform.url).host) })
    },
  )

  test('is none where a thing has such a word', async ({ platform }) => {
    platform.answer(refuse({ id: 'c-7', title: 'Sea', code: 'NOT_FOUND', status: 'unavailable' }, 200))
    expect(await platform.run('courses create --title Sea')).toMatchObject({ code: 0, stdout: 'c-7\n' })
  })
})

describe('each request', () => {
  test('says who calls, unless its user says otherwise', async ({ platform }) => {
    platform.answer(json(200, '[]'))
    await platform.run('courses list')
    await platform.run('api GET /v1/courses --header User-Agent:probe/1')
    expect(platform.headers.map((each) => each['user-agent'])).toEqual([
      `learnctl/${version} (${process.platform}; node ${process.versions.node})`,
      'probe/1',
    ])
  })

  test('for a token says the same', async ({ platform }) => {
    platform.answer(json(400, '{"error":"unsupported"}'))
    await platform.run('auth login --device --client-id x')
    expect(platform.headers.length).toBeGreaterThan(0)
    for (const each of platform.headers) expect(each['user-agent']).toMatch(/^learnctl\//)
  })

  test('keeps the request id that its user gives it, also where the platform has none', async ({
    platform,
  }) => {
    platform.answer(refuse({ message: 'No' }, 500), refuse({ message: 'No' }, 404))
    const ran = await platform.run('api PUT /v1/courses/1 --field a=b --header X-Request-Id:mine-7')
    expectClearError(ran, 3, 'error: No\n  request id: mine-7\n')
    expect(platform.headers.map((each) => each['x-request-id'])).toEqual(['mine-7', 'mine-7'])
    platform.answer(json(404, '{}', { 'x-request-id': 'theirs' }))
    const other = await platform.run('api GET /v1/x --header X-Request-Id:mine-7')
    expectClearError(other, 3, '  request id: theirs\n')
  })
})
