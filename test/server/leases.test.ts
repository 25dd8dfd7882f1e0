import { expect } from 'vitest'
import { test } from '../helpers/academy.ts'

const path = '/v1/apply-lease'
const own = { id: 'apply-1-on-build-7', holder: 'build-7, process 1' }
const other = { id: 'apply-2-on-build-8', holder: 'build-8, process 2' }

test('one client holds the lease; another learns who and how long', async ({ admin, instructor, clock }) => {
  const taken = await admin.put(path, own)
  expect(taken).toMatchObject({
    status: 200,
    body: {
      ...own,
      userId: admin.id,
      takenAt: '2026-03-01T12:00:00.000Z',
      expiresAt: '2026-03-01T12:01:00.000Z',
    },
  })
  clock.advance(10_000)
  expect(await instructor.put(path, other)).toMatchObject({
    status: 409,
    body: { code: 'apply_in_progress', lease: taken.body, time: '2026-03-01T12:00:10.000Z' },
  })
})

test('is renewed by id, and ends by the clock of the server otherwise', async ({ admin, clock }) => {
  const { body: taken } = await admin.put(path, own)
  clock.advance(59_000)
  const { body: renewed } = await admin.put(path, own)
  expect(renewed).toEqual({ ...taken, expiresAt: '2026-03-01T12:01:59.000Z' })
  clock.advance(59_999)
  expect((await admin.put(path, other)).status).toBe(409)
  clock.advance(1)
  expect(await admin.put(path, other)).toMatchObject({
    status: 200,
    body: { ...other, takenAt: '2026-03-01T12:01:59.000Z' },
  })
  expect((await admin.put(path, own)).status).toBe(409)
})

test('a lease that another client had in between starts again', async ({ admin, clock }) => {
  await admin.put(path, own)
  clock.advance(60_000)
  await admin.put(path, other)
  await admin.delete(`${path}/${other.id}`)
  expect((await admin.put(path, own)).body.takenAt).toBe('2026-03-01T12:01:00.000Z')
})

test('is released by its user and by admins', async ({ admin, instructor }) => {
  await admin.put(path, own)
  expect((await instructor.delete(`${path}/${own.id}`)).status).toBe(403)
  expect((await admin.delete(`${path}/${other.id}`)).status).toBe(404)
  expect((await admin.delete(`${path}/${own.id}`)).status).toBe(204)
  expect((await instructor.put(path, other)).status).toBe(200)
  expect((await admin.delete(`${path}/${other.id}`)).status).toBe(204)
})

test('is of one user, who alone can renew it', async ({ admin, instructor, clock }) => {
  await admin.put(path, own)
  expect((await instructor.put(path, own)).status).toBe(409)
  clock.advance(60_000)
  expect((await instructor.put(path, own)).body).toMatchObject({
    userId: instructor.id,
    takenAt: '2026-03-01T12:01:00.000Z',
  })
})

test('an instructor holds it, and an admin takes it', async ({ academy, admin, instructor }) => {
  const colleague = await academy.person('instructor')
  await instructor.put(path, own)
  expect((await colleague.put(path, other)).status).toBe(409)
  expect(await admin.put(path, other)).toMatchObject({ status: 200, body: { userId: admin.id } })
  expect(await instructor.put(path, own)).toMatchObject({
    status: 409,
    body: { code: 'apply_in_progress', lease: { userId: admin.id } },
  })
})

test('exactly one of several clients at once gets it', async ({ admin }) => {
  const ids = Array.from({ length: 8 }, (_, index) => `apply-${index}-of-eight-at-once`)
  const answers = await Promise.all(ids.map((id) => admin.put(path, { id, holder: 'build' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
})
