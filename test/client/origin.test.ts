import nock from 'nock'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCaller } from '../../src/client/caller.ts'
import { courses } from '../../src/contract/courses.ts'
import { origin, scriptedTransport, type Trial, testCaller } from './harness.ts'
import { useNock } from './own-nock.ts'

let run: Trial

useNock()

beforeEach(() => {
  run = testCaller()
})

afterEach(async () => {
  await run.close()
  nock.cleanAll()
})

test.each([301, 302, 303, 307, 308])(
  'a %i is not followed, and nothing reaches the other origin',
  async (status) => {
    const elsewhere = nock('https://evil.test').get(/.*/).reply(200, { data: [] })
    nock(origin).get('/v1/courses').reply(status, '', { Location: 'https://evil.test/v1/courses' })
    await expect(run.caller.call(courses.list)).rejects.toMatchObject({
      name: 'ProtocolError',
      code: 'redirected',
      message:
        `academy.example returned ${status} to https://evil.test/v1/courses; ` +
        'redirects are not followed (GET /v1/courses)',
    })
    expect(elsewhere.isDone()).toBe(false)
  },
)

test.each(['https://evil.test/v1/courses?page=2', 'https://academy.example:8443/v1/courses?page=2'])(
  'a next page on another origin is never asked for: %s',
  async (url) => {
    const link = `<${url}>; rel="next"`
    const { transport, requests } = scriptedTransport(Response.json([{ id: '1' }], { headers: { link } }))
    const pages = testCaller({ transport }, false).caller.pages(courses.list)
    await expect(pages.next()).rejects.toMatchObject({ name: 'ProtocolError', code: 'foreign_link' })
    expect(requests).toHaveLength(1)
  },
)

test('a page of the same host is asked for over TLS, though the platform calls it http', async () => {
  const link = '<http://academy.example/v1/courses?page=2>; rel=next'
  const { transport, requests } = scriptedTransport(
    Response.json([], { headers: { link } }),
    Response.json([]),
  )
  for await (const _ of testCaller({ transport }, false).caller.pages(courses.list));
  expect(requests.map(({ url }) => url)).toEqual([
    'https://academy.example/v1/courses',
    'https://academy.example/v1/courses?page=2',
  ])
})

test('no credential goes over plain http to another machine, unless that is allowed', async () => {
  const baseUrl = 'http://academy.example'
  const { transport, requests } = scriptedTransport(Response.json([]), Response.json([]), Response.json([]))
  const key = { transport, baseUrl, authorization: async () => 'Bearer k' }
  await expect(createCaller(key).call(courses.list)).rejects.toMatchObject({
    name: 'RequestError',
    code: 'insecure_http',
  })
  const own = { method: 'GET', path: '/v1/courses', headers: { Authorization: 'Basic x' } }
  await expect(createCaller({ transport, baseUrl }).send(own)).rejects.toMatchObject({
    code: 'insecure_http',
  })
  expect(requests).toHaveLength(0)

  await createCaller({ ...key, insecureHttp: true }).call(courses.list)
  await createCaller({ ...key, baseUrl: 'http://127.0.0.1:4700' }).call(courses.list)
  await createCaller({ transport, baseUrl }).call(courses.list)
  expect(requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer k', 'Bearer k', undefined])
})

test('an academy in the same process is called without a credential', async () => {
  const { transport, requests } = scriptedTransport(Response.json({ id: 'crs_1' }, { status: 201 }))
  const caller = createCaller({ baseUrl: 'http://academy.local', transport })
  await caller.call(courses.create, { body: { title: 'X' } })
  expect(requests).toMatchObject([
    {
      method: 'POST',
      url: 'http://academy.local/v1/courses',
      body: '{"title":"X"}',
      headers: { accept: 'application/json' },
    },
  ])
  expect(requests[0]?.headers).not.toHaveProperty('authorization')
})

test('the credential is asked for at each attempt', async () => {
  let asked = 0
  const { transport, requests } = scriptedTransport(
    new Response(null, { status: 503 }),
    Response.json({ data: [] }),
  )
  await testCaller({ transport, authorization: async () => `Bearer ${++asked}` }).caller.call(courses.list)
  expect(requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer 1', 'Bearer 2'])
})
