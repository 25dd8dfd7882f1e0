import { describe, expect, test as plain } from 'vitest'
import { type SignInCode, SignInError } from '../../src/auth/errors.ts'
import { failureOf } from '../../src/cli/failures.ts'
import { InterruptedError } from '../../src/cli/terminal/errors.ts'
import { networkErrorOf } from '../../src/client/undici.ts'
import type { StoredCredential, StoredTokens } from '../../src/config/profiles.ts'
import { statusOf } from '../../src/contract/errors.ts'
import type { Transport } from '../../src/contract/http.ts'
import { type RunOptions, test, testCli } from '../helpers/cli.ts'
import { storedTokens, storeProfile } from '../helpers/signed-in.ts'
import { answerOf } from '../helpers/web.ts'

const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'key-of-the-environment' }

/** Runs a command line against a platform that always gives the same response. */
async function answered(answer: () => Response, line = 'courses get crs_1', more = {}) {
  const sent: string[] = []
  const transport: Transport = async ({ method, url }) => {
    sent.push(`${method} ${url}`)
    return answerOf(answer())
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

const statusesOf = {
  1: [405, 421, 500],
  2: [400, 413, 414, 415, 422, 431],
  3: [404],
  4: [401],
  5: [403],
  6: [409, 412],
  7: [408, 429, 503],
}
const exitOf = new Map(
  Object.entries(statusesOf).flatMap(([exit, statuses]) => statuses.map((status) => [status, Number(exit)])),
)
const exceptions: Record<string, number> = { expired_key: 4, idempotency_mismatch: 6 }

describe('the exit code', () => {
  plain.each(Object.entries(statusOf))('of %s (%d) is the one of the table', async (code, status) => {
    const { code: exit, stdout } = await answered(() => problem(status, code))
    expect({ exit, stdout }).toEqual({ exit: exceptions[code] ?? exitOf.get(status), stdout: '' })
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
      /^error: Connection refused by 127\.0\.0\.1:1.*\n {2}hint: The URL is from --url\n$/,
    )
  })

  test.for([
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'To trust its certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file',
    ],
    ['CERT_HAS_EXPIRED', null],
  ] as const)('of a certificate with %s is 7, and hints %s', ([wireCode, hint]) => {
    const request = { method: 'GET', url: 'https://school.example/v1/courses', headers: {} }
    const cause = Object.assign(new Error('not trusted'), { code: wireCode })
    const fault = networkErrorOf(request, cause, { part: 'head', connectTimeoutMs: 5000 })
    expect(failureOf(fault, null)).toMatchObject({ code: 'tls', exit: 'unavailable', hint })
  })

  plain.each([
    ['courses list', 'Interrupted', null],
    [
      'courses create --title Biology',
      'Interrupted; POST /v1/courses may have succeeded',
      'Check before you retry: learnctl courses list',
    ],
  ] as const)('of an interrupted %s says what may have happened', async (line, message, hint) => {
    const controller = new AbortController()
    const interrupt = () => {
      controller.abort(new InterruptedError('SIGINT'))
      throw new Error('the connection broke off')
    }
    const ran = await answered(interrupt, `${line} -o json`, { signal: controller.signal })
    expect(ran).toMatchObject({ code: 130, stdout: '' })
    expect(JSON.parse(ran.stderr).error).toMatchObject({ code: 'interrupted', exitCode: 130, message, hint })
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
        'error: 2 problems found:',
        '  assessmentCriteria.passingScore must be at most 100',
        '  Unknown field: titel; did you mean title?',
        '  request id: req_1',
        '',
      ].join('\n'),
    )
  })

  plain('counts the problems that the server found besides those it tells', async () => {
    const errors = ['x0', 'x1'].map((name) => ({
      pointer: `#/${name}`,
      code: 'unknown_field',
      detail: 'is not a known field',
    }))
    const { stderr } = await answered(() => problem(422, 'validation_failed', { errors, moreErrors: 99_900 }))
    expect(stderr).toBe(
      [
        'error: 99,902 problems found:',
        '  Unknown field: x0',
        '  Unknown field: x1',
        '  … and 99,900 more',
        '  request id: req_1',
        '',
      ].join('\n'),
    )
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
          message: 'It is not_found',
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
    for (const line of ['-ojson cours', 'courses create --output json --titel x', '-o json --colour x']) {
      const { code, stdout, stderr } = await cli.run(line)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 2, status: null } })
    }
    const { stderr } = await cli.run('cours', { env: { LEARNCTL_OUTPUT: 'jsonl' } })
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'unknown_command', hint: 'Did you mean courses?' },
    })
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

const url = 'https://school.example'
const storedKey = { kind: 'api_key', value: 'key-of-a-profile', origin: url, storedAt: '' } as const

/**
 * Runs a command line with this credential in the active profile, against a platform that always gives the same
 * response.
 */
async function answeredWith(
  credential: StoredCredential | undefined,
  answer: () => Response,
  line = 'courses get crs_1',
  more: RunOptions = {},
) {
  const cli = testCli({ transport: async () => answerOf(answer()) })
  try {
    storeProfile(cli.config, url, credential, 'other')
    storeProfile(cli.config, url, credential)
    return await cli.run(line, more)
  } finally {
    cli.remove()
  }
}

const hintOf = ({ stderr }: { stderr: string }) => /^ {2}hint: (.*)$/m.exec(stderr)?.[1]

describe('a refusal for want of a scope', () => {
  const tokens = storedTokens(url)
  const short = (scope?: string) =>
    new Response('{"message": "Not for you"}', {
      status: 403,
      headers: {
        'www-authenticate': `Bearer error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`,
      },
    })

  const beyond = ['read', '$(id)', '`id`', '";id;"', 'x/y.z:a-b'] as const
  plain.each<[string, StoredTokens, string | undefined, string, string]>([
    ['a session', tokens, 'admin', '', '"read write admin"'],
    ['a session', tokens, undefined, '', '"read write admin"'],
    ['a session', tokens, 'x:y', '', '"read write x:y"'],
    ['a narrower session', { ...tokens, scopes: ['read'] }, 'write', '', '"read write"'],
    ['scopes that a shell would obey', { ...tokens, scopes: beyond }, 'write', '', '"read write x/y.z:a-b"'],
    ['another profile', tokens, 'admin', '--profile other', '"read write admin" --profile other'],
  ])('of %s, which takes %s, names the command', async (_, credential, scope, words, scopes) => {
    const ran = await answeredWith(credential, () => short(scope), `courses get crs_1 ${words}`)
    const hint = `Sign in again with more scopes: learnctl auth login --scopes ${scopes}`
    expect({ code: ran.code, hint: hintOf(ran) }).toEqual({ code: 5, hint })
  })

  plain('of an API key names the command of an admin', async () => {
    expect(hintOf(await answeredWith(storedKey, () => short('write')))).toBe(
      'Ask an admin for a key with these scopes: learnctl keys create --name <name> --scopes read,write',
    )
  })

  plain('of a variable’s token names the variable, too', async () => {
    const run = { env: { LEARNCTL_ACCESS_TOKEN: 'x' } }
    const ran = await answeredWith(undefined, () => short('admin'), 'courses get crs_1', run)
    expect(hintOf(ran)).toBe(
      'Set LEARNCTL_ACCESS_TOKEN to a token with the scopes read write admin, or unset it and run: learnctl auth login --scopes "read write admin"',
    )
  })

  plain('is told from any other', async () => {
    const ran = await answeredWith(tokens, () => problem(403, 'forbidden'))
    expect(ran.code).toBe(5)
    expect(hintOf(ran)).toBeUndefined()
  })
})

describe('a refused credential', () => {
  const refused = () => problem(401, 'invalid_token')
  const withoutRefresh = storedTokens(url, { refreshToken: null })

  plain.each<[string, StoredCredential | undefined, string, Record<string, string>, string]>([
    ['a session', withoutRefresh, '', {}, 'Sign in again: learnctl auth login'],
    [
      'a session of another profile',
      withoutRefresh,
      '--profile other',
      {},
      'Sign in again: learnctl auth login --profile other',
    ],
    ['a key', storedKey, '', {}, 'Sign in again: learnctl auth login --with-key'],
    [
      'a variable beside a session',
      withoutRefresh,
      '',
      { LEARNCTL_API_KEY: 'k' },
      'Set LEARNCTL_API_KEY to a valid credential, or unset it and use the credential from profile school',
    ],
    [
      'a variable alone',
      undefined,
      '',
      { LEARNCTL_ACCESS_TOKEN: 't' },
      'Set LEARNCTL_ACCESS_TOKEN to a valid credential, or unset it and run: learnctl auth login',
    ],
    [
      'a variable at another place',
      undefined,
      '',
      { LEARNCTL_ACCESS_TOKEN: 't', LEARNCTL_URL: 'https://b.example' },
      'Set LEARNCTL_ACCESS_TOKEN to a valid credential, or unset it and run: learnctl auth login --url https://b.example',
    ],
  ])('of %s is answered with what to do', async (_, credential, words, env, hint) => {
    const ran = await answeredWith(credential, refused, `courses get crs_1 ${words}`, { env })
    expect({ code: ran.code, hint: hintOf(ran) }).toEqual({ code: 4, hint })
  })
})

describe('a fault of signing in', () => {
  plain.each<[SignInCode, string, boolean]>([
    ['signed_out', 'auth', false],
    ['server_unavailable', 'unavailable', true],
  ])('%s is one of %s for the exit code', (code, exit, retryable) => {
    const error = new SignInError(code, 'what', { why: ['why'], hint: 'do this' })
    expect(failureOf(error, null)).toMatchObject({
      code,
      exit,
      retryable,
      message: 'what',
      why: ['why'],
      hint: 'do this',
      status: null,
    })
  })
})
