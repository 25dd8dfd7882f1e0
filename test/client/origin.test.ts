import { expect, test } from 'vitest'
import { createCaller } from '../../src/client/caller.ts'
import { courses } from '../../src/contract/courses.ts'
import { scriptedTransport, testCaller } from './harness.ts'

test.each([301, 302, 303, 307, 308])('a %i is an error that names the other origin', async (status) => {
  const location = 'https://evil.test/v1/courses'
  const { transport, requests } = scriptedTransport(new Response('', { status, headers: { location } }))
  await expect(testCaller({ transport }).caller.call(courses.list)).rejects.toMatchObject({
    name: 'ProtocolError',
    code: 'redirected',
    message:
      `academy.example returned ${status} to https://evil.test/v1/courses; ` +
      'redirects are not followed (GET /v1/courses)',
  })
  expect(requests).toHaveLength(1)
})

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

test('the credential is asked for at each attempt', async () => {
  let asked = 0
  const { transport, requests } = scriptedTransport(
    new Response(null, { status: 503 }),
    Response.json({ data: [] }),
  )
  await testCaller({ transport, authorization: async () => `Bearer ${++asked}` }).caller.call(courses.list)
  expect(requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer 1', 'Bearer 2'])
})
