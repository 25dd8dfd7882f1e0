import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { streamOf } from '../../../src/client/reply.ts'
import { type OpenAcademy, openAcademy } from '../../../src/server/academy/local-academy.ts'
import { freshDirectory, stoppedClock } from '../../helpers/academy.ts'

const test = base.extend('local', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  const academy = await openAcademy({ path: join(path, 'academy.db'), now: stoppedClock().now })
  onCleanup(async () => {
    await academy.close()
    remove()
  })
  return academy
})

async function send(academy: OpenAcademy, method: string, path: string, body?: unknown) {
  const reply = await academy.transport({
    method,
    url: `http://academy.local${path}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = reply.body === null ? '' : String(reply.body)
  return { status: reply.status, headers: reply.headers, text, body: text === '' ? null : JSON.parse(text) }
}

test('an academy in this process answers as its first user, without a credential', async ({ local }) => {
  expect(local.created).toBe(true)
  expect(existsSync(local.path)).toBe(true)
  expect((await send(local, 'GET', '/v1/user/profile')).body).toMatchObject({
    email: 'admin@academy.local',
    role: 'admin',
    scopes: ['read', 'write', 'admin'],
    authMethod: 'local',
  })
})

test('it takes every resource, errors and headers as it would behind a socket', async ({ local }) => {
  const made = await send(local, 'POST', '/v1/courses', { title: 'Łogic 👩🏽‍🚀' })
  expect(made).toMatchObject({ status: 201, body: { title: 'Łogic 👩🏽‍🚀' } })
  expect(made.headers['location']).toBe(`/v1/courses/${made.body.id}`)
  expect(made.headers).not.toHaveProperty('ratelimit')
  for (const path of [
    '/v1/lessons',
    '/v1/users',
    '/v1/enrollments',
    '/v1/analytics/learners',
    '/v1/keys',
    '/health',
  ]) {
    expect((await send(local, 'GET', path)).status, path).toBe(200)
  }
  const refused = await send(local, 'POST', '/v1/courses', { titel: 'x' })
  expect(refused).toMatchObject({ status: 422, body: { instance: '/v1/courses', code: 'validation_failed' } })
  expect((await send(local, 'DELETE', `/v1/courses/${made.body.id}`)).status).toBe(204)
})

test.for(['/nowhere', '/v1/nothing', '/v1/constructor', '/toString', '/v1/__proto__', '/v1', '/'])(
  'there is nothing at %s',
  async (path, { local }) => {
    expect(await send(local, 'GET', path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  },
)

test('an export streams', async ({ local }) => {
  const reply = await local.transport({
    method: 'GET',
    url: 'http://academy.local/v1/analytics/learners?format=csv',
    headers: {},
  })
  expect(reply.headers['content-type']).toContain('text/csv')
  let text = ''
  for await (const piece of streamOf(reply).body ?? []) text += Buffer.from(piece).toString()
  expect(text).toMatch(/^learnerId,.*courseExternalId\r\n$/)
})

test('a sound database has nothing wrong with it', async ({ local }) => {
  expect(await local.check()).toEqual([])
})
