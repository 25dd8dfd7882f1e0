import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib'
import { expect, test as plain } from 'vitest'
import type { HttpHeaders, HttpResponse } from '../../../src/contract/http.ts'
import { withContentCoding } from '../../../src/server/socket/content-coding.ts'
import { test } from './served.ts'

const json = { 'content-type': 'application/json' }
const long = JSON.stringify({ data: Array.from({ length: 200 }, (_, index) => `row ${index}`) })
const decoders = { br: brotliDecompressSync, gzip: gunzipSync }

/** Returns the response to a client with these headers. */
function answer(
  response: Partial<HttpResponse>,
  headers: HttpHeaders,
  method = 'GET',
): Promise<HttpResponse> {
  const handle = withContentCoding(async () => ({ status: 200, headers: json, body: long, ...response }))
  return handle({ method, url: 'http://localhost/v1/courses', headers })
}

plain.for([
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['deflate, gzip;q=1.0, *;q=0.5', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['gzip;q=0.001', 'gzip'],
  ['gzip;q=0', undefined],
  ['gzip;q=0.5, identity', undefined],
  ['identity', undefined],
  ['identity;q=0', undefined],
  ['*;q=0', undefined],
  ['deflate', undefined],
  ['', undefined],
] as const)('Accept-Encoding %j is answered in %s', async ([accepted, coding]) => {
  const { headers, body } = await answer({}, { 'accept-encoding': accepted })
  expect(headers['content-encoding']).toBe(coding)
  expect(headers['vary']).toBe('Accept-Encoding')
  if (coding === undefined) expect(body).toBe(long)
  else expect(decoders[coding](body as Uint8Array).toString()).toBe(long)
})

plain('without Accept-Encoding nothing is compressed, and the answer says that it varies', async () => {
  const { headers, body } = await answer({ headers: { ...json, vary: 'Accept' } }, {})
  expect(headers).toEqual({ ...json, vary: 'Accept, Accept-Encoding' })
  expect(body).toBe(long)
})

plain.for([
  ['what fits in one packet', { body: long.slice(0, 1399) }],
  ['a page', { headers: { 'content-type': 'text/html; charset=utf-8' } }],
  ['nothing', { status: 204, body: null }],
] as const)('%s is not compressed', async ([, response]) => {
  const { headers } = await answer(response, { 'accept-encoding': 'gzip' })
  expect(headers).not.toHaveProperty('content-encoding')
})

plain('a refusal is compressed too, and so is what takes longer to', async () => {
  const problem = { status: 422, headers: { 'content-type': 'application/problem+json', etag: '"3"' } }
  const refused = await answer(problem, { 'accept-encoding': 'br' })
  expect(refused).toMatchObject({ status: 422, headers: { 'content-encoding': 'br', etag: '"3"' } })
  const large = 'é'.repeat(100_000)
  for (const coding of ['br', 'gzip'] as const) {
    const { body } = await answer({ body: large }, { 'accept-encoding': coding })
    const pieces = await Array.fromAsync(body as AsyncIterable<Uint8Array>)
    expect(decoders[coding](Buffer.concat(pieces)).toString()).toBe(large)
  }
})

plain(
  'what is compressed has a strong tag of its own, and the answer to a write that of the record',
  async () => {
    const tagged = { headers: { ...json, etag: '"3"' } }
    const tagFor = async (method: string, coding: string) =>
      (await answer(tagged, { 'accept-encoding': coding }, method)).headers['etag']
    expect(await tagFor('GET', 'gzip')).toBe('"3+gzip"')
    expect(await tagFor('GET', 'br')).toBe('"3+br"')
    expect(await tagFor('GET', 'identity')).toBe('"3"')
    expect(await tagFor('PUT', 'gzip')).toBe('"3"')
  },
)

plain('HEAD is told what GET would be', async () => {
  const length = { 'content-length': String(long.length) }
  const head = { headers: { ...json, ...length, etag: '"3"' }, body: null }
  const { headers, body } = await answer(head, { 'accept-encoding': 'gzip' }, 'HEAD')
  expect(headers).toEqual({ ...json, 'content-encoding': 'gzip', etag: '"3+gzip"', vary: 'Accept-Encoding' })
  expect(body).toBeNull()
  const small = { headers: { ...json, 'content-length': '9' }, body: null }
  const short = await answer(small, { 'accept-encoding': 'gzip' }, 'HEAD')
  expect(short.headers).toEqual({ ...json, 'content-length': '9', vary: 'Accept-Encoding' })
})

plain.for(['gzip', 'br'] as const)(
  'each piece of a %s stream can be read before the next one is made',
  async (coding) => {
    const made = ['one', 'two'].map((piece) => piece.repeat(100))
    let read = () => {}
    async function* pieces() {
      for (const piece of made) {
        const taken = new Promise<void>((resolve) => {
          read = resolve
        })
        yield piece
        await taken
      }
    }
    const { headers, body } = await answer({ body: pieces() }, { 'accept-encoding': coding })
    expect(headers['content-encoding']).toBe(coding)
    const decoder = coding === 'br' ? createBrotliDecompress() : createGunzip()
    const got: string[] = []
    decoder.on('data', (text: Buffer) => {
      got.push(text.toString())
      read()
    })
    for await (const piece of body as AsyncIterable<Uint8Array>) decoder.write(piece)
    decoder.end()
    await once(decoder, 'end')
    expect(got).toEqual(made)
  },
)

plain('a stream is made no faster than it is read', async () => {
  let made = 0
  async function* pieces() {
    for (; made < 1_000; made += 1) yield randomBytes(65_536)
  }
  const { body } = await answer({ body: pieces() }, { 'accept-encoding': 'gzip' })
  const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  expect(made).toBe(0)
  await reader.next()
  for (let turn = 0; turn < 100; turn += 1) await setImmediate()
  expect(made).toBeLessThan(10)
  await reader.return?.()
})

plain('a reader that goes ends the stream, and a fault of the stream reaches the reader', async () => {
  let ended = () => {}
  const end = new Promise<void>((resolve) => {
    ended = resolve
  })
  async function* endless() {
    try {
      while (true) yield 'x'.repeat(100_000)
    } finally {
      ended()
    }
  }
  const { body } = await answer({ body: endless() }, { 'accept-encoding': 'gzip' })
  for await (const _ of body as AsyncIterable<Uint8Array>) break
  await end
  async function* failing() {
    yield 'x'
    throw new Error('the disk is gone')
  }
  const broken = await answer({ body: failing() }, { 'accept-encoding': 'br' })
  const reading = async () => {
    for await (const _ of broken.body as AsyncIterable<Uint8Array>);
  }
  await expect(reading()).rejects.toThrow('the disk is gone')
})

test('a compressed list is the list, 304 by its tag, matched by version', async ({ served }) => {
  const key = { authorization: `Bearer ${served.key}` }
  const send = (path: string, headers: Record<string, string>, more: RequestInit = {}) =>
    served.fetch(path, { ...more, headers: { ...key, ...headers } })
  const made = await send(
    '/v1/courses',
    { 'content-type': 'application/json' },
    { method: 'POST', body: JSON.stringify({ title: 'Logic', description: 'a '.repeat(2_000) }) },
  )
  const { id } = (await made.json()) as { id: string }
  for (const path of ['/v1/courses', `/v1/courses/${id}`]) {
    const zipped = await send(path, { 'accept-encoding': 'gzip' })
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(await zipped.text()).toBe(await (await send(path, { 'accept-encoding': 'identity' })).text())
    const tag = zipped.headers.get('etag') ?? ''
    expect(tag).toMatch(/\+gzip"$/)
    for (const known of [tag, tag.replace('+gzip', ''), tag.replace('gzip', 'br')]) {
      const again = await send(path, { 'accept-encoding': 'gzip', 'if-none-match': known })
      expect([again.status, again.headers.get('etag'), again.headers.get('vary')]).toEqual([
        304,
        known,
        'Accept-Encoding',
      ])
    }
  }
  const put = (tag: string) =>
    send(
      `/v1/courses/${id}`,
      { 'content-type': 'application/json', 'if-match': tag },
      { method: 'PUT', body: '{"title":"Rhetoric"}' },
    )
  expect((await put('"7+gzip"')).status).toBe(412)
  expect((await put('"1+gzip"')).status).toBe(200)
  expect((await put('"1+gzip"')).status).toBe(412)
})
