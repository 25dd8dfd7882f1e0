import type { OutgoingHttpHeaders } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { type Answer, json, own, test } from '../helpers/odd-platform.ts'
import { expectClearError } from '../helpers/result.ts'
import { slowRows } from '../helpers/slow-rows.ts'

const courses = JSON.stringify(
  Array.from({ length: 50 }, (_, n) => ({ id: `crs_${n}`, title: `Sea ${n}`, seen: Math.sin(n) })),
)
const rows = `learnerId,email\r\n${Array.from({ length: 3000 }, (_, n) => `usr_${n},a${Math.cos(n)}@school.example\r\n`).join('')}`

/** A response in a coding, sent in small pieces. */
const coded =
  (coding: string, bytes: Uint8Array, type = 'application/json', status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': type, 'content-encoding': coding })
    for (let at = 0; at < bytes.length; at += 1000) response.write(bytes.subarray(at, at + 1000))
    response.end()
  }

const codings: readonly [name: string, code: (text: string) => Uint8Array][] = [
  ['gzip', (text) => gzipSync(text)],
  ['br', (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ['identity', (text) => Buffer.from(text)],
]

describe('an answer in ', () => {
  test.for(slowRows(codings))('%s is read as what it was', async ([name, code], { platform }) => {
    platform.answer(coded(name, code(courses)))
    const { code: exit, stdout } = await platform.run('courses list --all -o json')
    expect(exit).toBe(0)
    expect(JSON.parse(stdout)).toEqual(JSON.parse(courses))
    platform.answer(coded(name, code(rows), 'text/csv'))
    expect(await platform.run('analytics export')).toMatchObject({ code: 0, stdout: rows })
    platform.answer(coded(name, code('{"message":"No such course"}'), 'application/json', 404))
    expectClearError(await platform.run('courses update 1 --title x'), 3, 'error: No such course')
  })

  test.for(codings.filter(([name]) => name !== 'identity'))(
    '%s that ends early is no answer, however much of it came',
    async ([name, code], { platform }) => {
      platform.answer(coded(name, code(rows).subarray(0, -12), 'text/csv'))
      const ran = await platform.run('analytics export --file rows.csv')
      expectClearError(ran, 7, /^error: The response from 127\.0\.0\.1:\d+ was cut short \(GET /)
      platform.answer(coded(name, code(courses).subarray(0, -12)))
      expectClearError(await platform.run('courses list'), 7, /cut short/)
      expect(platform.requests.length).toBeGreaterThan(4)
    },
  )
})

describe('an answer is refused', () => {
  test.for([
    ['gzip', 'is not valid gzip', Buffer.from(courses)],
    ['br', 'is not valid br', Buffer.from(courses)],
    ['compress', 'has the unsupported Content-Encoding "compress"', Buffer.from(courses)],
  ] as const)('in %s where it %s', async ([coding, fault, bytes], { platform }) => {
    platform.answer(coded(coding, bytes))
    const ran = await platform.run('courses list')
    expectClearError(ran, 1, fault)
    expect(platform.requests).toHaveLength(1)
  })

  test('where it expands a thousandfold, before a disk fills', async ({ platform }) => {
    const text = `id,email\n${`${'a'.repeat(10_000)},b\n`.repeat(1000)}`
    platform.answer(coded('gzip', gzipSync(text), 'text/csv'))
    expectClearError(
      await platform.run('analytics export --file rows.csv'),
      1,
      'to GET /v1/analytics/learners expands to more than 200 times its size\n',
    )
    expectClearError(await platform.run('courses list'), 1, 'expands to more than 200 times its size\n')
  })
})

test('within a machine no coding is asked for, unless its user does', async ({ platform }) => {
  platform.answer(json(200, '[]'))
  await platform.run('courses list')
  await platform.run('api GET /v1/courses --header accept-encoding:zstd')
  expect(platform.headers.map((each) => each['accept-encoding'])).toEqual(['identity', 'zstd'])
})

const said =
  (type: string, bytes: Uint8Array, status = 200, headers: OutgoingHttpHeaders = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(bytes)

const latin1 = Buffer.from('[{"id": 1, "title": "Café"}]', 'latin1')
const utf8 = Buffer.from('[{"id": 1, "title": "Café"}]')

describe('JSON is read', () => {
  test.for<[type: string, bytes: Uint8Array]>([
    ['application/json; charset=ISO-8859-1', latin1],
    // The charset that old servers put on everything.
    ['application/json;charset="ISO-8859-1"', utf8],
    ['application/json; charset=no-such-thing', utf8],
    ['application/json', Buffer.from(`\uFEFF${utf8}`)],
  ])('in the charset of %s, unless it is UTF-8', async ([type, bytes], { platform }) => {
    platform.answer(said(type, bytes))
    expect((await platform.run('courses list --columns title')).stdout).toBe('Café\n')
  })

  test.for([['application/json'], ['application/json; charset=utf-8'], ['application/json; charset=odd']])(
    'as %s only where it is UTF-8',
    async ([type = ''], { platform }) => {
      platform.answer(said(type, latin1))
      const reason = 'cannot be read: byte 0xE9 at offset 24 is not UTF-8\n'
      expectClearError(await platform.run('courses list'), 1, reason)
    },
  )

  test('of an error, whatever its bytes are', async ({ platform }) => {
    const body = Buffer.from('{"message": "Café geschlossen"}', 'latin1')
    platform.answer(said('application/json', body, 404))
    expectClearError(await platform.run('courses update 1 --title x'), 3, 'error: Caf\uFFFD geschlossen')
  })
})

test('rows in another encoding are no export', async ({ platform }) => {
  const rows = Buffer.from('{"email":"a"}\n{"email":"b\xe9"}\n{"email":"c"}\n', 'latin1')
  platform.answer(said('application/x-ndjson', rows, 200, own))
  for (const form of ['--format ndjson', '--format json', '--format yaml --columns email']) {
    const ran = await platform.run(`analytics export ${form} --file rows`)
    expectClearError(ran, 1, 'error: The platform sent a row that is not UTF-8\n')
  }
})
