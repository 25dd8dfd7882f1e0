import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { createCredentialCache } from '../../../src/server/access/identify.ts'
import { test } from '../../helpers/academy.ts'
import { start } from '../../helpers/test-academy.ts'

/** A credential cache with its own clock, and the number of lookups. */
function watched() {
  let timeMs = 0
  let looked = 0
  const known = createCredentialCache<{ readonly look: number }>(() => timeMs)
  const find = (digest: string) =>
    known.find(digest, async () => {
      looked += 1
      return { look: looked }
    })
  return {
    known,
    find,
    wait: (ms: number) => {
      timeMs += ms
    },
  }
}

test('a credential is looked up once a second', async () => {
  const { find, wait } = watched()
  expect([await find('a'), await find('a'), await find('b')]).toEqual([{ look: 1 }, { look: 1 }, { look: 2 }])
  wait(999)
  expect(await find('a')).toEqual({ look: 1 })
  wait(1)
  expect(await find('a')).toEqual({ look: 3 })
})

test('a cleared credential is looked up again, even if its lookup is under way', async () => {
  const { known, find } = watched()
  const early = find('a')
  known.forget()
  expect([await early, await find('a')]).toEqual([{ look: 1 }, { look: 2 }])
})

test('a credential that is not found is not cached', async () => {
  const { known, find } = watched()
  expect(await known.find('a', async () => undefined)).toBe(undefined)
  expect(await find('a')).toEqual({ look: 1 })
})

test('a limited number of credentials is cached', async () => {
  const { find } = watched()
  for (let index = 0; index < 1001; index += 1) await find(String(index))
  expect(await find('0')).toEqual({ look: 1002 })
  expect(await find('1000')).toEqual({ look: 1001 })
})

test('a write to what is taught keeps known credentials', async ({ academy, admin, analyst, instructor }) => {
  const { body: own } = await instructor.post('/v1/courses', { title: 'Rhetoric' })
  // As another server on the same database does.
  await academy.database.run(sql`update api_keys set revoked_at = ${start} where user_id = ${instructor.id}`)
  await admin.post('/v1/courses', { title: 'Logic' })
  expect((await instructor.get(`/v1/courses/${own.id}`)).status).toBe(200)
  expect((await instructor.put(`/v1/courses/${own.id}`, { title: 'Logic' })).status).toBe(401)
  await admin.put(`/v1/users/${analyst.id}`, { username: 'somebody' })
  expect((await instructor.get('/v1/courses')).body.code).toBe('invalid_token')
})

test('a key that ends while it is known is refused from then on', async ({ academy, admin, clock }) => {
  const { body } = await admin.post('/v1/keys', { name: 'short', expiresAt: '2026-03-01T12:00:10Z' })
  const holder = academy.bearer(`Bearer ${body.key}`)
  expect((await holder.get('/v1/courses')).status).toBe(200)
  clock.advance(10_000)
  expect((await holder.get('/v1/courses')).body.code).toBe('expired_key')
})
