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

describe('an error of another platform is shown', () => {
  test.for<[what: string, body: unknown, error: string]>([
    ['by its detail', { detail: 'Title is taken', title: 'Conflict' }, 'Title is taken'],
    ['by its error', { error: 'Title is taken' }, 'Title is taken'],
    ['by the message inside of its error', { error: { message: 'Title is taken' } }, 'Title is taken'],
    ['as it came, otherwise', { errors: { title: ['is taken'] } }, '{"errors":{"title":["is taken"]}}'],
  ])('%s', async ([, body, error], { platform }) => {
    platform.answer(refuse(body))
    expectClearError(await platform.run('courses create --title Sea'), 2, `error: ${error}\n`)
  })

  test('by the flags that its problems are about, if they are those of RFC 9457', async ({ platform }) => {
    const errors = Array.from({ length: 150 }, (_, n) => ({
      pointer: `#/tags/${n}`,
      detail: 'has no name',
    }))
    platform.answer(
      refuse({ detail: 'Invalid', errors: [{ pointer: '#/title', detail: 'is taken' }, ...errors] }),
    )
    const { code, stderr } = await platform.run('courses create --title Sea')
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: 151 problems found:\n {2}--title is taken\n {2}--tags: 0 has no name\n/)
    expect(stderr).toMatch(/\n {2}--tags: 149 has no name\n$/)
  })

  test('with its control characters shown, not obeyed', async ({ platform }) => {
    platform.answer(refuse({ message: 'No\u009b2J \u001b]0;x\u0007 b\u202e' }))
    const ran = await platform.run('courses create --title Sea')
    expectClearError(ran, 2, 'error: No\\x9b2J \\x1b]0;x\\x07 b\\u202e\n')
  })
})

describe('a 403 to an API key', () => {
  test.for<[what: string, answer: Answer]>([
    ['no code', refuse({ message: 'Expired key' }, 403)],
    ['no body', (response) => response.writeHead(403).end()],
    ['the status for a code', refuse({ statusCode: 403, message: 'Forbidden', error: 'Forbidden' }, 403)],
    ['words for the status alone', refuse({ title: 'Access denied', error: '403 Forbidden' }, 403)],
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
    ['a reason', refuse({ message: 'Insufficient permissions' }, 403), 'error: Insufficient permissions\n'],
    ['a reason in a list', refuse({ errors: ['Admins only'] }, 403), 'Admins only'],
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

  test('keeps the request id that its user gives, or the platform', async ({ platform }) => {
    platform.answer(refuse({ message: 'No' }, 500), refuse({ message: 'No' }, 404))
    const ran = await platform.run('api PUT /v1/courses/1 --field a=b --header X-Request-Id:mine-7')
    expectClearError(ran, 3, 'error: No\n  request id: mine-7\n')
    expect(platform.headers.map((each) => each['x-request-id'])).toEqual(['mine-7', 'mine-7'])
    platform.answer(json(404, '{}', { 'x-request-id': 'theirs' }))
    const other = await platform.run('api GET /v1/x --header X-Request-Id:mine-7')
    expectClearError(other, 3, '  request id: theirs\n')
  })
})
