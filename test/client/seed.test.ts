import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCaller } from '../../src/client/caller.ts'
import { type Client, createClient } from '../../src/client/client.ts'
import { NotOfferedError } from '../../src/client/errors.ts'
import { createUndiciTransport } from '../../src/client/undici.ts'
import { operations } from '../../src/contract/index.ts'
import { type SeedServer, startSeedServer } from '../helpers/seed-server.ts'
import { textOf } from './harness.ts'

let seed: SeedServer
let client: Client

beforeEach(async () => {
  seed = await startSeedServer()
  client = createClient({ baseUrl: `${seed.url}/v1/`, apiKey: seed.key, attempts: 1 })
})

afterEach(async () => {
  await client.close()
  await seed.close()
})

test('all eight published operations work against the plainest platform', { tags: ['slow'] }, async () => {
  const course = await client.courses.create({ title: 'Algebra', difficulty: 'beginner' })
  expect(course).toEqual({ id: '1', title: 'Algebra', difficulty: 'beginner' })
  expect(await client.courses.list()).toEqual({ data: [course], nextCursor: null })
  expect(await client.courses.update('1', { description: 'New' })).toMatchObject({
    modified: { description: 'New' },
    version: '2',
  })
  const lesson = await client.lessons.create({ courseId: '1', title: 'Sets' })
  expect(lesson).toMatchObject({ id: '1', courseId: '1' })
  expect(await client.users.create({ email: 'a@b.example' })).toMatchObject({ id: '2', email: 'a@b.example' })
  expect(await client.users.profile()).toMatchObject({ role: 'administrator' })
  const progress = { courseId: '1', completionPercentage: 75, lastAccessed: '2026-01-31T09:30:00Z' }
  expect(await client.progress.set('2', progress)).toEqual({ learnerId: '2', ...progress })
  expect(await client.analytics.learners({ start_date: '2026-01-31', end_date: '2026-01-31' })).toEqual({
    data: [{ learnerId: '2', ...progress }],
    nextCursor: null,
  })
  expect(await client.analytics.learners({ start_date: '2026-02-01' })).toEqual({
    data: [],
    nextCursor: null,
  })
  const csv = await client.analytics.learners.stream({ format: 'csv' })
  expect(await textOf(csv.body)).toBe(
    'learnerId,courseId,completionPercentage,lastAccessed\r\n2,1,75,2026-01-31T09:30:00Z\r\n',
  )
  expect(seed.requests.every(({ url }) => url.startsWith('/v1/') && !url.startsWith('/v1/v1'))).toBe(true)
})

test('every extension is said not to be offered, by host and operation', { tags: ['slow'] }, async () => {
  await client.courses.create({ title: 'Algebra' })
  const transport = createUndiciTransport()
  const caller = createCaller({
    baseUrl: seed.url,
    transport,
    authorization: async () => `Bearer ${seed.key}`,
  })
  const names = operations.flatMap(({ path }) =>
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  )
  const params = { ...Object.fromEntries(names.map((name) => [name, '1'])), lmsKind: 'canvas' }
  const extensions = operations.filter(({ id, published }) => !published && id !== 'courses.get')
  for (const operation of extensions) {
    const call = caller.call(operation, { params, ...(operation.body && { body: {} }) })
    await expect(call, operation.id).rejects.toThrow(NotOfferedError)
    await expect(call, operation.id).rejects.toThrow(
      `${new URL(seed.url).host} does not support ${operation.id}`,
    )
  }
  await transport.close()
})

test('a published operation that names what is not there says not found, without a probe', async () => {
  await expect(client.courses.update('9', { title: 'X' })).rejects.toMatchObject({
    name: 'ApiError',
    status: 404,
  })
  await expect(client.lessons.create({ courseId: '9', title: 'X' })).rejects.toMatchObject({
    name: 'ApiError',
    status: 404,
    detail: 'Course not found',
  })
  expect(seed.requests).toHaveLength(2)
})

test('a wrong key is an invalid token, an old one an expired key', async () => {
  const wrong = createClient({ baseUrl: seed.url, apiKey: 'nobody' })
  await expect(wrong.courses.list()).rejects.toMatchObject({
    status: 401,
    code: 'invalid_token',
    detail: 'Invalid token',
  })
  const expired = createClient({ baseUrl: seed.url, apiKey: seed.expiredKey })
  await expect(expired.courses.list()).rejects.toMatchObject({ status: 403, code: 'expired_key' })
  const token = createClient({ baseUrl: seed.url, accessToken: seed.expiredKey })
  await expect(token.courses.list()).rejects.toMatchObject({ status: 403, code: 'forbidden' })
  await Promise.all([wrong, expired, token].map((each) => each.close()))
})
