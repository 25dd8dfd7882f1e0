import { describe, expect } from 'vitest'
import { type Answer, json, test } from '../helpers/odd-platform.ts'
import { expectClearError } from '../helpers/result.ts'

/** Returns the credential of a request, as a header and in the body of the response. */
const echo =
  (status: number): Answer =>
  (response, request) => {
    const sent = request.headers.authorization ?? ''
    const body = { message: `${sent} is no good`, id: sent, errors: [{ field: sent, message: sent }] }
    json(status, JSON.stringify(body), { 'x-request-id': sent, 'x-echo': sent })(response, request)
  }

describe('the credential that a platform sends back is not shown', () => {
  test.for([
    ['courses list'],
    ['courses list -o json'],
    ['api GET /v1/courses --debug'],
    ['courses create --title x'],
  ])('in the error of %s', async ([line = ''], { platform }) => {
    for (const status of [401, 422, 500]) {
      platform.answer(echo(status))
      // This fixture searches all output for the key.
      const ran = await platform.run(line, { tty: 100 })
      expect(ran.code).not.toBe(0)
      expect(ran.stdout + ran.stderr).toContain('Bearer ***')
    }
  })

  test('in a note about a wait', async ({ platform }) => {
    platform.answer(json(503, '{"message": "Not now, the-key"}', { 'retry-after': '5' }), json(200, '[]'))
    expect((await platform.run('courses list')).stderr).toBe('note: Not now, ***; attempt 2 of 4 in 6 s\n')
  })

  test.for([['api GET /v1/x'], ['courses get 1'], ['courses list']])(
    'by %s on a terminal',
    async ([line = ''], { platform }) => {
      platform.answer((response, request) => {
        const id = `${request.headers.authorization} "quoted"`
        json(200, JSON.stringify(line.includes('list') ? [{ id, title: id }] : { id, title: id }), {
          'x-echo': id,
        })(response, request)
      })
      const ran = await platform.run(line, { tty: 100 })
      expect(ran.code).toBe(0)
      expect(ran.stdout).toContain('***')
    },
  )

  test('in a pipe it is what it is: data', async ({ cli, platform }) => {
    platform.answer((response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('your key is the-key'),
    )
    const env = { LEARNCTL_URL: platform.url, LEARNCTL_API_KEY: 'the-key' }
    expect(await cli.run('api GET /v1/x', { env })).toEqual({
      code: 0,
      stdout: 'your key is the-key',
      stderr: '',
    })
    expect((await cli.run('api GET /v1/x', { env, tty: 80 })).stdout).toBe('your key is ***')
    expect((await cli.run('auth token', { env, tty: 80 })).stdout).toBe('the-key\n')
  })
})

describe('the response behind an error is shown', () => {
  const page: Answer = (response) =>
    response
      .writeHead(502, { 'content-type': 'text/html', 'set-cookie': 'sid=1; Path=/', 'x-cache': 'MISS' })
      .end('<h1>Bad\u001b[2J\nGateway</h1>')
  const head = /HTTP 502\ncontent-type: text\/html\nset-cookie: \*\*\*\nx-cache: MISS\n/

  test('by --debug, in lines of its own', async ({ platform }) => {
    platform.answer(page)
    const { code, stdout, stderr } = await platform.run('courses list --debug --retries 0')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.replaceAll('\ndebug: ', '\n')).toMatch(head)
    expect(stderr).toMatch(/\ndebug: <h1>Bad\\x1b\[2J\ndebug: Gateway<\/h1>\nerror: /)
  })

  test('of a redirect, which is not followed, and of what is not JSON', async ({ platform }) => {
    platform.answer((response) => response.writeHead(302, { location: '/login' }).end())
    expectClearError(
      await platform.run('courses list'),
      1,
      /returned 302 to http.*\/login; redirects are not/,
    )
    const redirect = await platform.run('api GET /v1/x --debug')
    expect(redirect).toMatchObject({ code: 1, stderr: expect.stringContaining('debug: location: /login\n') })
    platform.answer(json(200, '{"half":'))
    const { stderr } = await platform.run('courses list --debug')
    expect(stderr).toContain('debug: {"half":\n')
  })
})
