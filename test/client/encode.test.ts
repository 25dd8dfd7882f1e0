import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RequestError } from '../../src/client/errors.ts'
import {
  assertConfidential,
  encodeBody,
  encodeEntityTag,
  encodeIdempotencyKey,
  encodePath,
  encodeQuery,
  isLoopback,
  normaliseBaseUrl,
} from '../../src/client/request.ts'

const base = 'https://academy.example/lms'

/** Any character, including unpaired surrogates. */
const character = fc
  .oneof(fc.integer({ max: 0xd7ff, min: 0 }), fc.integer({ max: 0x10ffff, min: 0xe000 }))
  .map((code) => String.fromCodePoint(code))

test('a path parameter comes back whole from one segment of the address, or is refused', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: character }), fc.string({ unit: fc.constantFrom(...'./%2e\\?#@:;\t\n é') })),
      (value) => {
        if (value === '' || value === '.' || value === '..') {
          expect(() => encodePath('/v1/courses/{courseId}/versions', { courseId: value })).toThrow(
            RequestError,
          )
          return
        }
        const url = new URL(base + encodePath('/v1/courses/{courseId}/versions', { courseId: value }))
        const segments = url.pathname.split('/')
        expect(segments).toHaveLength(6)
        expect(decodeURIComponent(segments[4] ?? '')).toBe(value)
        expect(segments[5]).toBe('versions')
        expect(url.origin + url.search + url.hash).toBe('https://academy.example')
      },
    ),
  )
})

test.each(['', '.', '..', '\ud800'])('the path parameter %j is refused', (courseId) => {
  expect(() => encodePath('/v1/courses/{courseId}', { courseId })).toThrow(
    expect.objectContaining({ name: 'RequestError', code: 'invalid_path' }),
  )
  expect(() => encodePath('/v1/courses/{courseId}', {})).toThrow('courseId')
})

test('a query round-trips, without what is undefined or null', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: character, minLength: 1 }), fc.string({ unit: character })),
      (query) => {
        const read = new URL(`${base}/v1/courses${encodeQuery(query)}`).searchParams
        expect(Object.fromEntries(read)).toEqual({ ...query })
      },
    ),
  )
  expect(encodeQuery({ a: undefined, b: null, c: 0, d: false, e: ['x', 'y'], f: '' })).toBe(
    '?c=0&d=false&e=x%2Cy&f=',
  )
  expect(encodeQuery({ a: undefined })).toBe('')
})

test.each([{ a: Number.NaN }, { a: {} }, { a: '\udfff' }, { a: [Number.POSITIVE_INFINITY] }])(
  'the query %j is refused',
  (query) => {
    expect(() => encodeQuery(query)).toThrow(expect.objectContaining({ code: 'invalid_query' }))
  },
)

test('a number that JSON has no form for is refused instead of becoming null', () => {
  expect(encodeBody({ a: [1, { b: undefined, c: null }] })).toBe('{"a":[1,{"c":null}]}')
  expect(() => encodeBody({ completionPercentage: Number.NaN })).toThrow(
    'completionPercentage must be a finite number',
  )
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  expect(() => encodeBody(cycle)).toThrow(expect.objectContaining({ code: 'invalid_body' }))
})

test('an idempotency key is sent as a structured-field string', () => {
  expect(encodeIdempotencyKey('8e03978e-40d5')).toBe('"8e03978e-40d5"')
  expect(encodeIdempotencyKey('a"b\\c')).toBe('"a\\"b\\\\c"')
  for (const key of ['', 'ü', 'a\r\nb', 'x'.repeat(256)])
    expect(() => encodeIdempotencyKey(key)).toThrow(RequestError)
})

test('a version becomes an entity tag', () => {
  expect([7, '7', '"7"', '*'].map(encodeEntityTag)).toEqual(['"7"', '"7"', '"7"', '*'])
  for (const version of ['', 'a b', 'W/"7"', '7\r\nX: y'])
    expect(() => encodeEntityTag(version)).toThrow(RequestError)
})

test.each([
  ['https://h.example', 'https://h.example'],
  ['https://h.example/', 'https://h.example'],
  ['https://h.example/v1', 'https://h.example'],
  ['https://h.example/lms/v1/', 'https://h.example/lms'],
  ['https://h.example/v12//', 'https://h.example/v12'],
  ['http://127.0.0.1:4700/v1', 'http://127.0.0.1:4700'],
  ['HTTPS://H.example:443/A', 'https://h.example/A'],
])('the base address %s is %s', (text, expected) => {
  expect(normaliseBaseUrl(text)).toBe(expected)
  expect(normaliseBaseUrl(expected)).toBe(expected)
})

test.each(['', 'h.example', 'ftp://h.example', 'https://', 'https://h.example?x=1', 'https://h.example/#v1'])(
  'the base address %j is refused',
  (text) => {
    expect(() => normaliseBaseUrl(text)).toThrow(expect.objectContaining({ code: 'invalid_base_url' }))
  },
)

test('a base address with a password is refused without repeating it', () => {
  expect(() => normaliseBaseUrl('https://ann:hunter2@h.example')).toThrow(/^(?!.*hunter2).*h\.example/)
})

test.each([
  'http://localhost',
  'http://a.localhost:1',
  'http://127.9.9.9',
  'http://[::1]:8',
  'http://0x7f.1',
])('%s is loopback', (url) => {
  expect(isLoopback(url)).toBe(true)
  expect(() => assertConfidential(url)).not.toThrow()
})

test.each(['http://127.0.0.1.evil.test', 'http://localhost.evil.test', 'http://10.0.0.1', 'http://[::2]'])(
  '%s is not loopback, so no credential goes there in the clear',
  (url) => {
    expect(isLoopback(url)).toBe(false)
    expect(() => assertConfidential(url)).toThrow(expect.objectContaining({ code: 'insecure_http' }))
    expect(() => assertConfidential(url.replace('http:', 'https:'))).not.toThrow()
  },
)
