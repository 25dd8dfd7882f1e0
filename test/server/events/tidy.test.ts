import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { sweep } from '../../../src/server/database/sweep.ts'
import { tidyOutbox } from '../../../src/server/events/messages.ts'
import { day, minute, test } from '../../helpers/academy.ts'
import { makeEndpoint, messagesOf } from './scene.ts'

const url = 'https://lms.example/hooks'

test('an endpoint that has expired is gone at once, and its messages with the next sweep', async ({
  academy: { database, clock },
  admin,
}) => {
  const expiresAt = new Date(clock.now().getTime() + minute).toISOString()
  const { id } = await makeEndpoint(admin, url, { expiresAt })
  await admin.post('/v1/courses', { title: 'Logic' })
  expect(await messagesOf(admin, id)).toHaveLength(1)
  clock.advance(minute)
  expect((await admin.get(`/v1/webhooks/endpoints/${id}`)).status).toBe(404)
  expect((await admin.get('/v1/webhooks/endpoints')).body.data).toEqual([])
  await tidyOutbox(database, clock.now())
  expect(await messagesOf(admin, id)).toEqual([])
  expect(await database.all(sql`select id from webhook_endpoints`)).toEqual([])
  await admin.post('/v1/courses', { title: 'Ethics' })
  expect(await messagesOf(admin, id)).toEqual([])
})

test('a deleted endpoint is gone at once, with its secret', async ({
  academy: { database, clock },
  admin,
}) => {
  const { id } = await makeEndpoint(admin, url)
  await admin.post('/v1/courses', { title: 'Logic' })
  expect((await admin.delete(`/v1/webhooks/endpoints/${id}`)).status).toBe(204)
  expect(await database.all(sql`select secret from webhook_endpoints`)).toEqual([{ secret: '' }])
  expect((await admin.delete(`/v1/webhooks/endpoints/${id}`)).status).toBe(404)
  await tidyOutbox(database, clock.now())
  expect(await database.all(sql`select id from webhook_messages`)).toEqual([])
})

test('messages are kept for a week', async ({ academy: { database, clock }, admin }) => {
  const { id } = await makeEndpoint(admin, url)
  await admin.post('/v1/courses', { title: 'Logic' })
  clock.advance(7 * day - 1)
  await sweep(database, clock.now())
  expect(await messagesOf(admin, id)).toHaveLength(1)
  clock.advance(1)
  await sweep(database, clock.now())
  expect(await messagesOf(admin, id)).toEqual([])
})

test('there are at most 50 endpoints, and the secret is stored in no readable form', {
  tags: ['slow'],
}, async ({ academy: { database }, admin }) => {
  const { secret } = await makeEndpoint(admin, url)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const [row] = await database.all<{ secret: string }>(sql`select secret from webhook_endpoints`)
  expect(row?.secret).not.toContain(secret.slice(6, 20))
  for (let count = 1; count < 50; count += 1) await makeEndpoint(admin, url)
  expect(await admin.post('/v1/webhooks/endpoints', { url })).toMatchObject({
    status: 409,
    body: { code: 'limit_reached' },
  })
})
