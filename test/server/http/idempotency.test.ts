import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { day, hour, minute, test } from '../../helpers/academy.ts'

const logic = { title: 'Logic' }
const once = (key: string) => ({ 'idempotency-key': key })

test('a replay has the first status, body, Location and ETag', async ({ admin, clock }) => {
  const first = await admin.post('/v1/courses', logic, once('"a"'))
  await admin.put(`/v1/courses/${first.body.id}`, { title: 'Rhetoric' })
  clock.advance(hour)
  const again = await admin.post('/v1/courses', logic, once('"a"'))
  expect(again).toMatchObject({ status: 201, text: first.text })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.headers.get('location')).toBe(first.headers.get('location'))
  expect(again.headers.get('etag')).toBe('"1"')
  expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
})

test('the key may come quoted or bare', async ({ admin }) => {
  await admin.post('/v1/courses', logic, once('"8e03978e-40d5"'))
  const bare = await admin.post('/v1/courses', logic, once('8e03978e-40d5'))
  expect(bare.headers.get('idempotent-replayed')).toBe('true')
})

test.for(['""', 'two words', '"open', 'a'.repeat(256)])('the key %j is 400', async (key, { admin }) => {
  expect(await admin.post('/v1/courses', logic, once(key))).toMatchObject({
    status: 400,
    body: { errors: [{ parameter: 'Idempotency-Key', code: 'invalid_parameter' }] },
  })
})

test('a key with another body is 422, were it one blank more', async ({ admin }) => {
  await admin.post('/v1/courses', logic, once('"a"'))
  const other = await admin.send('POST', '/v1/courses', '{ "title":"Logic"}', {
    'content-type': 'application/json',
    ...once('"a"'),
  })
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
})

test('a key is one of its user and its path', async ({ admin, instructor }) => {
  const first = await admin.post('/v1/courses', logic, once('"a"'))
  const others = await instructor.post('/v1/courses', logic, once('"a"'))
  expect(others.body.id).not.toBe(first.body.id)
  const user = await admin.post('/v1/users', { email: 'a@b.example' }, once('"a"'))
  expect(user.status).toBe(201)
})

test('a key is kept for 24 hours', async ({ admin, clock }) => {
  const first = await admin.post('/v1/courses', logic, once('"a"'))
  clock.advance(day - minute)
  expect((await admin.post('/v1/courses', logic, once('"a"'))).body.id).toBe(first.body.id)
  clock.advance(2 * minute)
  const afresh = await admin.post('/v1/courses', logic, once('"a"'))
  expect(afresh.headers.get('idempotent-replayed')).toBeNull()
  expect(afresh.body.id).not.toBe(first.body.id)
})

test('a refusal is replayed too, though its reason be gone', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { ...logic, externalId: 'L1' })
  const taken = await admin.post('/v1/courses', { title: 'Other', externalId: 'L1' }, once('"a"'))
  expect(taken.status).toBe(409)
  await admin.delete(`/v1/courses/${course.id}`)
  const again = await admin.post('/v1/courses', { title: 'Other', externalId: 'L1' }, once('"a"'))
  expect(again).toMatchObject({ status: 409, text: taken.text })
})

test('a refusal for want of rights is not kept', async ({ admin, instructor }) => {
  const body = { email: 'dean@school.example', role: 'analyst' }
  expect((await instructor.post('/v1/users', body, once('"a"'))).status).toBe(403)
  await admin.put(`/v1/users/${instructor.id}`, { role: 'admin' })
  expect((await instructor.post('/v1/users', body, once('"a"'))).status).toBe(201)
})

test('changes of a request before its refusal are rolled back', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', logic)
  const lesson = { courseId: course.id, title: 'One', order: 1, externalId: 'E1' }
  await admin.post('/v1/lessons', lesson)
  expect((await admin.post('/v1/lessons', lesson, once('"a"'))).status).toBe(409)
  const { body } = await admin.get(`/v1/lessons?course_id=${course.id}`)
  expect(body.data.map(({ order }: { order: number }) => order)).toEqual([1])
})

test('a secret is never kept: a replayed key has its text no more', async ({ academy, admin }) => {
  const first = await admin.post('/v1/keys', { name: 'export' }, once('"a"'))
  expect(first.body.key).toMatch(/^lpk_/)
  const again = await admin.post('/v1/keys', { name: 'export' }, once('"a"'))
  expect(again).toMatchObject({ status: 201, body: { ...first.body, key: null } })
  const kept = JSON.stringify(await academy.database.all(sql`select * from idempotency, api_keys`))
  expect(kept).not.toContain(first.body.key)
})

test('a body is compared by a fingerprint, not kept', async ({ academy, admin }) => {
  const password = 'correct horse battery'
  await admin.post('/v1/users', { email: 'a@b.example', password }, once('"a"'))
  const rows = await academy.database.all(sql`select * from idempotency`)
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(password)
})

test('on other methods the header means nothing', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', logic)
  const path = `/v1/courses/${course.id}`
  expect((await admin.put(path, { title: 'A' }, once('"a"'))).body.version).toBe(2)
  expect((await admin.put(path, { title: 'B' }, once('"a"'))).body.version).toBe(3)
})

test('a password that came before is not hashed again', async ({ academy, admin }) => {
  const ada = { email: 'ada@school.example', password: 'correct horse battery' }
  const routes = [
    ['/v1/users', ada],
    ['/v1/users/batch', { items: [{ ...ada, email: 'eve@school.example' }] }],
  ] as const
  const first = await Promise.all(routes.map(([path, body]) => admin.post(path, body, once('"a"'))))
  academy.passwordCost.N = 3
  const again = await Promise.all(routes.map(([path, body]) => admin.post(path, body, once('"a"'))))
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text))
  const other = await Promise.all(routes.map(([path]) => admin.post(path, ada, once('"a"'))))
  expect(other.map(({ body }) => body.code)).toEqual([undefined, 'idempotency_mismatch'])
  expect((await admin.post('/v1/users', { ...ada, email: 'eva@school.example' }, once('"b"'))).status).toBe(
    500,
  )
})
