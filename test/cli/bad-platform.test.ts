import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, onTestFinished } from 'vitest'
import { InterruptedError } from '../../src/cli/terminal/errors.ts'
import { fillEnrollments } from '../bench/seed.ts'
import type { TestCli } from '../helpers/cli.ts'
import { listen } from '../helpers/listen.ts'
import { type Answer, json, own, test } from '../helpers/odd-platform.ts'
import { expectClearError } from '../helpers/result.ts'
import { slowRows } from '../helpers/slow-rows.ts'

const page: Answer = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')

const hang: Answer = () => {}

const header = 'learnerId,email\r\n'

/** A CSV whose second half is missing: the connection breaks off. */
const halfCsv: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/csv' })
  response.write(`${header}usr_1,ada@sch`, () => response.destroy())
}

const files = ({ cwd }: TestCli) => readdirSync(cwd)

/** Runs the program; returns its result and its waits in milliseconds, none of which takes time. */
const waited = test
  .extend('pauses', (): number[] => [])
  .override('options', ({ pauses }) => ({ sleep: async (ms: number) => void pauses.push(ms) }))

describe('a platform that', () => {
  test('speaks no TLS, or TLS where http was asked for, exits 7 with a URL', async ({ cli, platform }) => {
    platform.answer(page)
    const { port, close } = await listen(createTlsServer({}))
    onTestFinished(close)
    const plain = new URL(platform.url).host
    const secure = `127.0.0.1:${port}`
    const env = { LEARNCTL_API_KEY: 'k' }
    expect(await cli.run(`courses list --url https://${plain}`, { env })).toEqual({
      code: 7,
      stdout: '',
      stderr: `error: ${plain} does not use TLS (GET /v1/courses)\n  hint: If the server uses plain http: --url http://${plain}\n`,
    })
    expect(await cli.run(`courses list --url http://${secure}`, { env })).toEqual({
      code: 7,
      stdout: '',
      stderr: `error: ${secure} closed the connection without a response (GET /v1/courses)\n  hint: If the server uses TLS: --url https://${secure}\n`,
    })
  })

  waited.for(
    slowRows([
      ['courses list'],
      ['courses get crs_1'],
      ['analytics export'],
      ['analytics export --file x.csv'],
    ]),
  )('hangs exits 7 when %s has waited for --timeout', async ([line = ''], { platform, cli, pauses }) => {
    platform.answer(hang)
    const ran = await platform.run(`${line} --timeout 40ms --retries 1`)
    expectClearError(ran, 7, /did not respond within 0\.04 s .*\n {2}hint: Use --timeout to wait longer\n$/)
    // Do not count requests: on a busy machine one may end before the server accepts it.
    expect(pauses).toHaveLength(1)
    expect(files(cli)).toEqual([])
  })

  test.for([
    ['courses list'],
    ['courses create --title x'],
    ['users me'],
    ['analytics export'],
    ['analytics summary'],
  ])('answers %s with a web page and 200 exits 1', async ([line = ''], { platform }) => {
    platform.answer(page)
    expectClearError(
      await platform.run(line),
      1,
      line.includes('create')
        ? /is a web page, not JSON; .+\n {2}It may have succeeded\n {2}hint: Check before you retry: learnctl courses list\n$/
        : /is a web page, not JSON; is http:\S+ the URL of the API\?\n$/,
    )
    expect(platform.requests).toHaveLength(1)
  })

  test.for([['courses list'], ['courses get crs_1'], ['courses list -o csv']])(
    'answers %s with half of a JSON text exits 1',
    async ([line = ''], { platform }) => {
      platform.answer(json(200, '{"data": [{"id": "crs_1", "title": "Se'))
      expectClearError(await platform.run(line), 1, /is not valid JSON, or was cut short after 38 bytes\n$/)
    },
  )

  test('breaks off in its answer exits 7 after four attempts', async ({ platform }) => {
    platform.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"data": [', () => response.destroy())
    })
    expectClearError(await platform.run('courses list'), 7, /cut short/)
    expect(platform.requests).toHaveLength(4)
  })

  test('asks for a pause gets it, and the command succeeds', async ({ platform }) => {
    platform.answer(
      json(429, '{"message":"Slow down"}', { 'retry-after': '5' }),
      json(200, '[{"id":"1","title":"Sea"}]'),
    )
    expect(await platform.run('courses list --columns title')).toEqual({
      code: 0,
      stdout: 'Sea\n',
      stderr: expect.stringMatching(/^note: Rate limited by \S+; continuing in 6 s\n$/),
    })
  })

  test('asks for more patience than there is exits 7 at once, with the time', async ({ platform }) => {
    platform.answer(json(429, '{"message":"Slow down"}', { 'retry-after': '600' }))
    expectClearError(
      await platform.run('courses list'),
      7,
      'error: Slow down\n  The server asks you to wait 600 s\n',
    )
    expect(platform.requests).toHaveLength(1)
  })

  test.for([
    [429, 7],
    [503, 7],
    [500, 1],
    [502, 1],
  ])(
    'answers %i without saying for how long is asked four times, then %i',
    async ([status = 0, exit = 0], { platform }) => {
      platform.answer(json(status, '{"message":"Not now"}'))
      expectClearError(await platform.run('courses list'), exit, 'error: Not now\n')
      expect(platform.requests).toHaveLength(4)
    },
  )

  test('may have created something exits 7 and is not asked twice', async ({ platform }) => {
    platform.answer((response, { method }) => {
      if (method === 'POST') response.destroy()
      else json(404, '{}')(response, response.req)
    })
    const ran = await platform.run('courses create --title Sea')
    expectClearError(ran, 7, /POST \/v1\/courses may have succeeded: .*\n {2}hint: .*learnctl courses list\n/)
    expect(platform.requests.filter((request) => request.startsWith('POST'))).toHaveLength(1)
  })
})

describe('an export that breaks off', () => {
  test('leaves the file that it was to replace as it was', async ({ platform, cli }) => {
    const file = join(cli.cwd, 'learners.csv')
    writeFileSync(file, 'of yesterday')
    platform.answer(halfCsv)
    expectClearError(await platform.run('analytics export --file learners.csv --force'), 7, /cut short/)
    expect(readFileSync(file, 'utf8')).toBe('of yesterday')
    expect(files(cli)).toEqual(['learners.csv'])
  })

  test.for([['learners.csv'], ['learners.csv.gz'], ['learners.json.gz --columns email']])(
    'is an error and no file, compressed or not: %s',
    async ([file], { platform, cli }) => {
      platform.answer(halfCsv)
      expectClearError(await platform.run(`analytics export --file ${file}`), 7, /cut short/)
      expect(files(cli)).toEqual([])
    },
  )

  test('as JSON does not close its array', async ({ platform }) => {
    platform.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', ...own })
      response.write('{"email":"a"}\n{"email', () => response.destroy())
    })
    const { code, stdout, stderr } = await platform.run('analytics export --format json')
    expect({ code, stdout }).toEqual({ code: 7, stdout: '[\n{"email":"a"}' })
    expect(stderr).toMatch(/^error: .*cut short/)
  })

  test.for([['ndjson'], ['json']])(
    'within a row of %s is an error, also where the platform does not tell that it broke off',
    async ([format = ''], { platform, cli }) => {
      platform.answer((response) => {
        // Without a length, the end of the connection ends the response (RFC 9112 §6.3).
        response.shouldKeepAlive = false
        response.useChunkedEncodingByDefault = false
        response
          .writeHead(200, { 'content-type': 'application/x-ndjson', ...own })
          .end('{"email":"a"}\n{"email')
      })
      const ran = await platform.run(`analytics export --format ${format} --file learners`)
      expectClearError(ran, 7, 'error: The export was cut short in its last row\n')
      expect(files(cli)).toEqual([])
    },
  )
})

describe('Ctrl-C', () => {
  test.for([
    ['SIGINT', 130, 'learners.csv'],
    ['SIGTERM', 143, 'learners.csv'],
    ['SIGINT', 130, 'learners.csv.gz'],
  ] as const)(
    'in an export (%s) exits %i and leaves no %s',
    async ([name, exit, file], { platform, cli }) => {
      const controller = new AbortController()
      platform.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/csv' })
        response.write(`${header}usr_1,ada@school.example\r\n`, () =>
          controller.abort(new InterruptedError(name)),
        )
      })
      const ran = await platform.run(`analytics export --file ${file}`, { signal: controller.signal })
      const word = name === 'SIGINT' ? 'Interrupted' : 'Terminated'
      expect(ran).toEqual({ code: exit, stdout: '', stderr: `error: ${word}\n` })
      expect(files(cli)).toEqual([])
    },
  )

  test('while the rows of an export are counted leaves no file', async ({ platform, cli }) => {
    const controller = new AbortController()
    platform.answer(() => controller.abort(new InterruptedError('SIGINT')))
    const { code } = await platform.run('analytics export --file x.csv', {
      signal: controller.signal,
      tty: 80,
    })
    expect(code).toBe(130)
    expect(platform.requests).toEqual([expect.stringContaining('include_total=true')])
    expect(files(cli)).toEqual([])
  })

  test('in an export of a local academy is obeyed before its end', { tags: ['slow'] }, async ({ local }) => {
    fillEnrollments(join(local.cwd, 'academy.db'), 2000)
    const controller = new AbortController()
    const interrupt = () => controller.abort(new InterruptedError('SIGINT'))
    const ran = await local.run('analytics export', { signal: controller.signal, onStdout: interrupt })
    expect(ran).toMatchObject({ code: 130, stderr: 'error: Interrupted\n' })
    expect(ran.stdout.split('\n').length).toBeLessThan(2000)
  })
})
