import { describe, expect, test as plain } from 'vitest'
import { InterruptedError } from '../../src/cli/errors.ts'
import type { Transport } from '../../src/client/transport.ts'
import { statusOf } from '../../src/contract/errors.ts'
import { test, testCli } from '../helpers/cli.ts'

const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'key-of-the-environment' }

/** Runs one command line against a platform that always answers the same. */
async function answered(answer: () => Response, line = 'courses get crs_1', more = {}) {
  const sent: string[] = []
  const transport: Transport = async ({ method, url }) => {
    sent.push(`${method} ${url}`)
    return answer()
  }
  const cli = testCli({ transport, env })
  try {
    return { ...(await cli.run(line, more)), sent }
  } finally {
    cli.remove()
  }
}

const problem = (status: number, code: string, more: object = {}) =>
  new Response(
    JSON.stringify({
      type: 'about:blank',
      status,
      code,
      detail: `It is ${code}.`,
      requestId: 'req_1',
      ...more,
    }),
    {
      status,
      headers: { 'content-type': 'application/problem+json' },
    },
  )

const exitOf: Record<number, number> = {
  400: 2,
  401: 4,
  403: 5,
  404: 3,
  405: 1,
  408: 7,
  409: 6,
  412: 6,
  413: 2,
  414: 2,
  415: 2,
  421: 1,
  422: 2,
  429: 7,
  500: 1,
  503: 7,
}
const exceptions: Record<string, number> = { expired_key: 4, idempotency_mismatch: 6 }

describe('the exit code', () => {
  plain.each(Object.entries(statusOf))('of %s (%d) is the one of the table', async (code, status) => {
    const { code: exit, stdout } = await answered(() => problem(status, code))
    expect({ exit, stdout }).toEqual({ exit: exceptions[code] ?? exitOf[status], stdout: '' })
  })

  plain.each<[string, number, () => Response]>([
    [
      'HTML with 200',
      1,
      () => new Response('<!doctype html><p>Hello', { headers: { 'content-type': 'text/html' } }),
    ],
    ['JSON cut off', 1, () => new Response('{"id": "crs_1", "ti')],
    [
      'a redirect',
      1,
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example' } }),
    ],
    ['403 without a code on a key, which is an expired key', 4, () => new Response('{}', { status: 403 })],
    ['502', 1, () => new Response('', { status: 502 })],
  ])('of %s is %d, in one line', async (_, expected, answer) => {
    const { code, stdout, stderr } = await answered(answer)
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    expect(stderr.match(/^error: /gm)).toHaveLength(1)
    expect(stderr).not.toContain(' at ')
  })

  test('of a server that is not there is 7, and says where the address is from', async ({ cli }) => {
    const { code, stderr } = await cli.run('courses list --url http://127.0.0.1:1 --retries 0', {
      env: { LEARNCTL_API_KEY: 'k' },
    })
    expect(code).toBe(7)
    expect(stderr).toMatch(
      /^error: 127\.0\.0\.1:1 refused the connection.*\n {2}hint: the address is from --url\n$/,
    )
  })

  test('of something unexpected is 1, with the way to more', async () => {
    const cli = testCli({
      env,
      transport: async () => {
        throw new RangeError('out of luck')
      },
    })
    const { code, stderr } = await cli.run('courses list')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: out of luck\n  hint: more with --debug\n' })
    expect((await cli.run('courses list --debug')).stderr).toContain('failures.test.ts')
    cli.remove()
  })

  plain.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('of %s is %d, whatever was going on', async (signal, expected) => {
    const controller = new AbortController()
    const interrupt = () => {
      controller.abort(new InterruptedError(signal))
      throw new Error('the connection broke off')
    }
    const ran = await answered(interrupt, 'courses list', { signal: controller.signal })
    expect(ran).toMatchObject({ code: expected, stdout: '', stderr: '' })
  })
})

describe('an error for people', () => {
  plain('says what, why, what to do, and the request id', async () => {
    const faults = [
      { pointer: '#/assessmentCriteria/passingScore', code: 'too_big', detail: 'must be at most 100' },
      { pointer: '#/titel', code: 'unknown_field', detail: 'unknown; did you mean title?' },
    ]
    const { stderr } = await answered(() =>
      problem(422, 'validation_failed', { detail: 'Two fields are wrong.', errors: faults }),
    )
    expect(stderr).toBe(
      [
        'error: Two fields are wrong.',
        '  assessmentCriteria.passingScore: must be at most 100',
        '  titel: unknown; did you mean title?',
        '  request id: req_1',
        '',
      ].join('\n'),
    )
  })

  plain('tells how long a server wants to be left alone', async () => {
    const limited = () => new Response('{}', { status: 429, headers: { 'retry-after': '90' } })
    const { code, stderr, sent } = await answered(limited)
    expect(code).toBe(7)
    expect(stderr).toContain('it asks to wait 90 s')
    expect(sent).toHaveLength(1)
  })

  plain('is announced by a line when an attempt waits for long', async () => {
    const limited = () => new Response('{}', { status: 429, headers: { 'retry-after': '3' } })
    const { stderr, sent } = await answered(limited, 'courses get crs_1 --retries 1')
    expect(stderr).toMatch(/^note: .*; attempt 2 of 2 in 4 s\nerror: /)
    expect(sent).toHaveLength(2)
  })

  plain('is coloured on a terminal alone', async () => {
    const lost = () => problem(404, 'not_found')
    expect((await answered(lost, 'courses get crs_1', { tty: 80 })).stderr).toContain('\u001b[31m')
    expect((await answered(lost, 'courses get crs_1 --color never', { tty: 80 })).stderr).toMatch(
      /^error: It is not_found/,
    )
    expect((await answered(lost, 'courses get crs_1 --color always')).stderr).toContain('\u001b[31m')
  })
})

describe('an error for scripts', () => {
  plain.each([['-o json'], ['-ojson'], ['--output jsonl'], ['--output=json']])(
    'is one line of JSON under %s',
    async (flag) => {
      const { code, stdout, stderr } = await answered(
        () => problem(404, 'not_found'),
        `courses get crs_1 ${flag}`,
      )
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
      expect(stderr.split('\n')).toHaveLength(2)
      expect(JSON.parse(stderr)).toEqual({
        error: {
          code: 'not_found',
          exitCode: 3,
          message: 'It is not_found.',
          hint: null,
          status: 404,
          requestId: 'req_1',
          retryable: false,
          details: [],
        },
      })
    },
  )

  test('is JSON as well where the command line was not understood', async ({ cli }) => {
    for (const line of ['-ojson course', 'courses create --output json --titel x', '-o json --colour x']) {
      const { code, stdout, stderr } = await cli.run(line)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 2, status: null } })
    }
    const { stderr } = await cli.run('course', { env: { LEARNCTL_OUTPUT: 'jsonl' } })
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'unknown_command', hint: 'did you mean courses?' },
    })
  })

  plain('carries the faults one by one', async () => {
    const errors = [{ pointer: '#/title', code: 'required', detail: 'is required' }]
    const { stderr } = await answered(
      () => problem(422, 'validation_failed', { errors }),
      'courses get x -o json',
    )
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'validation_failed', details: errors } })
  })

  plain('says what may be tried again', async () => {
    const { stderr } = await answered(() => problem(503, 'unavailable'), 'courses get x -o json --retries 0')
    expect(JSON.parse(stderr)).toMatchObject({ error: { retryable: true, exitCode: 7 } })
  })
})

describe('--debug', () => {
  plain('shows each exchange on standard error, without the credential', async () => {
    const { stdout, stderr } = await answered(
      () => new Response('{"id":"crs_1"}', { headers: { 'x-request-id': 'req_9' } }),
      'courses get crs_1 --debug -q',
    )
    expect(stdout).toBe('crs_1\n')
    expect(stderr).toMatch(
      /^debug: GET https:\/\/school\.example\/v1\/courses\/crs_1 → 200 \(attempt 1, \d+ ms, req_9\)\n$/,
    )
    expect(stderr).not.toContain(env.LEARNCTL_API_KEY)
  })
})
