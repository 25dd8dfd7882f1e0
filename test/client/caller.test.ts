import { expect, test } from 'vitest'
import { createCaller } from '../../src/client/caller.ts'
import { createClient } from '../../src/client/client.ts'
import { analytics } from '../../src/contract/analytics.ts'
import { courses } from '../../src/contract/courses.ts'
import { ownReplies, scriptedTransport, testCaller, textOf } from './harness.ts'

const baseUrl = 'https://academy.example/lms'

test('the request of a call can be had without sending it, and bears no credential', () => {
  const { transport, requests } = scriptedTransport()
  const caller = createCaller({
    baseUrl,
    transport,
    authorization: async () => 'Bearer k',
    newIdempotencyKey: () => 'key',
  })
  expect(caller.request(courses.create, { body: { title: 'X' } })).toEqual({
    method: 'POST',
    url: 'https://academy.example/lms/v1/courses',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': '"key"',
      prefer: 'handling=strict',
    },
    body: '{"title":"X"}',
  })
  expect(
    caller.request(courses.update, { params: { courseId: 'ext:a/b' }, body: { tags: null }, ifMatch: 3 }),
  ).toMatchObject({
    url: 'https://academy.example/lms/v1/courses/ext%3Aa%2Fb',
    headers: { 'if-match': '"3"' },
  })
  expect(requests).toEqual([])
})

test.each(['v1/courses', 'https://evil.test/', '@evil.test/', '', '/v1/courses#x'])(
  '%j is no path to send to',
  (path) => {
    const { caller } = testCaller()
    expect(() => caller.rawRequest({ method: 'GET', path })).toThrow(
      expect.objectContaining({ name: 'RequestError', code: 'invalid_path' }),
    )
  },
)

test('a refusal of a raw request is the API’s, also where nothing is there', async () => {
  const { transport } = scriptedTransport(
    new Response('', { status: 404 }),
    new Response('', { status: 405 }),
  )
  const { caller } = testCaller({ transport })
  for (const status of [404, 405]) {
    await expect(caller.send({ method: 'GET', path: '/v1/nothing' })).rejects.toMatchObject({
      name: 'ApiError',
      status,
    })
  }
})

test('a stream is asked for in its media type, and a page or JSON in its place is refused', async () => {
  const csv = (type: string) => new Response('a,b\r\n', { headers: { 'content-type': type } })
  const { transport, requests } = scriptedTransport(
    csv('text/csv; charset=utf-8'),
    csv('text/plain'),
    csv('text/html'),
    csv('application/json'),
  )
  const { caller } = testCaller({ transport })
  const open = () => caller.open(analytics.learners, { query: { format: 'csv' } }, { accept: 'text/csv' })
  expect(await textOf((await open()).body)).toBe('a,b\r\n')
  expect(await textOf((await open()).body)).toBe('a,b\r\n')
  expect(requests[0]).toMatchObject({
    headers: { accept: 'text/csv' },
    url: expect.stringMatching(/\?format=csv$/),
  })
  await expect(open()).rejects.toMatchObject({ name: 'ProtocolError', code: 'html' })
  await expect(open()).rejects.toMatchObject({ name: 'ProtocolError', code: 'unexpected_type' })
})

const courseC = { params: { courseId: 'c' } }
const listed = (list: Response, status = 404) => {
  const script = scriptedTransport(new Response('', { status }), list)
  const call = testCaller({ ...script, attempts: 1 }, false).caller.call(courses.get, courseC)
  return { call, ...script }
}

test.each([404, 405, 501])('after a %i without code a course is the one of the list', async (status) => {
  const { call } = listed(Response.json([{ id: 'x' }, { id: 'c', title: 'C' }]), status)
  expect(await call).toMatchObject({ data: { id: 'c', title: 'C' }, fromList: true })
})

test('a course that the whole list does not show is not found', async () => {
  const { call } = listed(Response.json([{ id: 'x' }]))
  await expect(call).rejects.toMatchObject({
    name: 'ApiError',
    status: 404,
    message: 'academy.example has no course c',
  })
})

test.each([404, 405])('without a list (%i) the operation is not offered', async (status) => {
  const { call } = listed(new Response('', { status }))
  await expect(call).rejects.toMatchObject({
    name: 'NotOfferedError',
    operation: 'courses.get',
    message: 'academy.example does not support courses.get (GET /v1/courses/c returned 404)',
  })
})

test.each([
  ['401', new Response('', { status: 401 }), { name: 'ApiError', status: 401 }],
  ['503', new Response('', { status: 503 }), { name: 'ApiError', status: 503 }],
  ['a web page', new Response('<html>'), { name: 'ProtocolError', code: 'html' }],
  ['a part', Response.json({ data: [{ id: 'x' }], total: 9 }), { name: 'ProtocolError', code: 'incomplete' }],
] as const)('a list that fails with %s is that fault', async (_, list, fault) => {
  await expect(listed(list.clone()).call).rejects.toMatchObject(fault)
})

test('the client has a method per operation: path parameters, then body or query, then options', async () => {
  const { transport, requests } = scriptedTransport(
    Response.json({ changes: [] }),
    Response.json({ version: 4 }),
    Response.json({ data: [{ id: 1 }], nextCursor: 'c' }),
    Response.json({ data: [{ id: 2 }], nextCursor: null }),
    Response.json({ status: 'ok' }),
    Response.json({ version: 5 }, { status: 201 }),
  )
  const client = createClient({ baseUrl, transport: ownReplies(transport), apiKey: 'lpk_1' })
  await client.courses.diff('c', '2', { to: 3 })
  await client.courses.update('c', { title: 'T' }, { ifMatch: 3 })
  const ids: unknown[] = []
  for await (const { id } of client.courses.list.all({ status: 'draft' })) ids.push(id)
  await client.service.health()
  await client.courses.restore('c', '2', { idempotencyKey: 'again' })
  expect(ids).toEqual([1, 2])
  expect(requests.map(({ method, url }) => `${method} ${url.slice(baseUrl.length)}`)).toEqual([
    'GET /v1/courses/c/versions/2/diff?to=3',
    'PUT /v1/courses/c',
    'GET /v1/courses?status=draft',
    'GET /v1/courses?status=draft&cursor=c',
    'GET /health',
    'POST /v1/courses/c/versions/2/restore',
  ])
  expect(requests[1]).toMatchObject({
    body: '{"title":"T"}',
    headers: { 'if-match': '"3"', authorization: 'Bearer lpk_1' },
  })
  expect(requests[5]?.headers).toMatchObject({ 'idempotency-key': '"again"' })
  expect(requests[5]).not.toHaveProperty('body')
  expect(() => createClient({ baseUrl, apiKey: 'a', accessToken: 'b' })).toThrow('cannot be used together')
})

async function walk(...answers: Response[]) {
  const { transport, requests } = scriptedTransport(...answers)
  const pages: unknown[][] = []
  const { caller } = testCaller({ transport })
  for await (const page of caller.pages(courses.list, { query: { q: 'a b', limit: 2 } }))
    pages.push([...page.data])
  return { pages, urls: requests.map(({ url }) => url.replace('https://academy.example', '')) }
}

test('pages follow nextCursor and keep the query, also after a failure', async () => {
  const { pages, urls } = await walk(
    Response.json({ data: [1, 2], nextCursor: 'c+1/=' }),
    new Response(null, { status: 503 }),
    Response.json({ data: [3], nextCursor: null }),
  )
  expect(pages).toEqual([[1, 2], [3]])
  expect(urls[0]).toBe('/v1/courses?q=a%20b&limit=2')
  expect(Object.fromEntries(new URL(`https://x${urls[1]}`).searchParams)).toEqual({
    q: 'a b',
    limit: '2',
    cursor: 'c+1/=',
  })
  expect(urls.slice(2)).toEqual([urls[1]])
})

test('a cursor that repeats ends the walk with an error instead of going round for ever', async () => {
  const answer = () => Response.json({ data: [1], nextCursor: 'same' })
  await expect(walk(answer(), answer(), answer())).rejects.toMatchObject({
    name: 'ProtocolError',
    code: 'cursor_repeated',
  })
})

test('a page is asked for only when it is wanted', async () => {
  const { transport, requests } = scriptedTransport(Response.json({ data: [1, 2], nextCursor: 'c' }))
  for await (const page of testCaller({ transport }).caller.pages(courses.list)) {
    expect(page).toMatchObject({ more: true, around: { data: [1, 2], nextCursor: 'c' } })
    break
  }
  expect(requests).toHaveLength(1)
})
