import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { ownClientId } from '../../../src/contract/oauth.ts'
import { nowhere } from '../../../src/server/access/principal.ts'
import { idMaker } from '../../../src/server/database/id.ts'
import { openGrant } from '../../../src/server/oauth/issue-tokens.ts'
import {
  type Answer,
  day,
  minute,
  type Person,
  start,
  type TestAcademy,
  test,
} from '../../helpers/academy.ts'
import { createGrant } from '../../helpers/signed-in.ts'

const ids = ({ body }: Answer) => body.data.map(({ id }: { id: string }) => id)

test('users see what they allow applications, newest first', async ({ academy, clock, learner, analyst }) => {
  const { id: first } = await createGrant(academy, { userId: learner.id, scopes: ['read', 'write'] })
  await createGrant(academy, { userId: analyst.id })
  clock.advance(minute)
  const { id: second } = await createGrant(academy, { userId: learner.id })
  const listed = await learner.get('/v1/grants?include_total=true')
  expect(listed).toMatchObject({ status: 200, body: { total: 2, nextCursor: null } })
  expect(ids(listed)).toEqual([second, first])
  expect(listed.body.data[1]).toEqual({
    id: first,
    userId: learner.id,
    clientId: 'learnctl',
    clientName: 'learnctl',
    scopes: ['read', 'write'],
    createdAt: start,
    lastUsedAt: null,
    expiresAt: '2026-05-30T12:00:00.000Z',
  })
  const page = await learner.get('/v1/grants?limit=1')
  expect(ids(await learner.get(`/v1/grants?limit=1&cursor=${page.body.nextCursor}`))).toEqual([first])
})

test('a grant that has ended or was revoked is not listed', async ({ academy, clock, learner }) => {
  await createGrant(academy, { userId: learner.id })
  clock.advance(90 * day - minute)
  expect(ids(await learner.get('/v1/grants'))).toHaveLength(1)
  clock.advance(minute)
  expect(ids(await learner.get('/v1/grants'))).toEqual([])
  const { id: revoked } = await createGrant(academy, { userId: learner.id })
  expect((await learner.delete(`/v1/grants/${revoked}`)).status).toBe(204)
  expect((await learner.get('/v1/grants?include_total=true')).body).toMatchObject({ data: [], total: 0 })
})

test('a grant is revoked once, however often that is asked for', async ({ academy, clock, learner }) => {
  const { id, accessToken } = await createGrant(academy, { userId: learner.id })
  const program = academy.bearer(`Bearer ${accessToken}`)
  expect((await program.get('/v1/grants')).body.data).toMatchObject([{ id }])
  const revokedAt = () => academy.database.one(sql`select revoked_at from grants where id = ${id}`)
  expect((await learner.delete(`/v1/grants/${id}`)).status).toBe(204)
  expect(await program.get('/v1/grants')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  clock.advance(minute)
  expect((await learner.delete(`/v1/grants/${id}`)).status).toBe(204)
  expect(await revokedAt()).toEqual({ revoked_at: start })
})

describe('the grants of another user', () => {
  test('are listed for admins with the scope admin', async ({ academy, admin, learner, instructor }) => {
    const { id } = await createGrant(academy, { userId: learner.id })
    for (const reference of [learner.id, `email:${learner.email}`]) {
      expect(ids(await admin.get(`/v1/grants?user_id=${reference}`))).toEqual([id])
    }
    expect(ids(await admin.get('/v1/grants'))).toEqual([])
    const narrow = await academy.person('admin', ['read', 'write'])
    for (const reference of [learner.id, `email:${learner.email}`, 'usr_none']) {
      const path = `/v1/grants?user_id=${reference}`
      expect(await instructor.get(path)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(await narrow.get(path)).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope', scope: 'admin' },
      })
    }
    expect(await admin.get('/v1/grants?user_id=usr_none')).toMatchObject({
      status: 404,
      body: { errors: [{ parameter: 'user_id', code: 'not_found' }] },
    })
  })

  test('are one’s own where the reference is to oneself', async ({ academy, learner }) => {
    const { id } = await createGrant(academy, { userId: learner.id })
    for (const reference of [learner.id, `email:${learner.email.toUpperCase()}`]) {
      expect(ids(await learner.get(`/v1/grants?user_id=${reference}`))).toEqual([id])
    }
  })

  test('are revoked by admins with the scope alone', async ({ academy, admin, learner, instructor }) => {
    const { id } = await createGrant(academy, { userId: learner.id })
    const narrow = await academy.person('admin', ['read', 'write'])
    const refusals = await Promise.all(
      [instructor, narrow].flatMap((person) =>
        [id, 'gnt_none'].map((grant) => person.delete(`/v1/grants/${grant}`)),
      ),
    )
    for (const { status, body } of refusals)
      expect({ status, code: body.code }).toEqual({
        status: 404,
        code: 'not_found',
      })
    expect(ids(await learner.get('/v1/grants'))).toEqual([id])
    expect((await admin.delete(`/v1/grants/${id}`)).status).toBe(204)
    expect(ids(await learner.get('/v1/grants'))).toEqual([])
    expect((await admin.delete('/v1/grants/gnt_none')).status).toBe(404)
  })
})

describe('access ends with', () => {
  /** Signs a user in with a program and a browser; returns how many of these sessions are left. */
  async function signIn(academy: TestAcademy, { id }: Person) {
    const { database } = academy
    const { accessToken } = await createGrant(academy, { userId: id })
    const program = academy.bearer(`Bearer ${accessToken}`)
    await database.run(sql`
      insert into browser_sessions (hash, user_id, created_at, expires_at)
      values (${id}, ${id}, ${start}, '2026-03-02T12:00:00.000Z')`)
    return async () => ({
      status: (await program.get('/v1/user/profile')).status,
      grants: (await database.all(sql`select 1 from grants where user_id = ${id} and revoked_at is null`))
        .length,
      sessions: (await database.all(sql`select 1 from browser_sessions where user_id = ${id}`)).length,
    })
  }

  const none = { status: 401, grants: 0, sessions: 0 }
  const both = { status: 200, grants: 1, sessions: 1 }
  const password = 'correct horse battery'

  test.for<[what: string, end: (admin: Person, person: Person) => Promise<Answer>]>([
    ['a password set by an admin', (admin, { id }) => admin.put(`/v1/users/${id}`, { password })],
    ['suspension', (admin, { id }) => admin.put(`/v1/users/${id}`, { status: 'suspended' })],
    ['deletion', (admin, { id }) => admin.delete(`/v1/users/${id}`)],
    ['deletion by status', (admin, { id }) => admin.put(`/v1/users/${id}`, { status: 'deleted' })],
    ['erasure', (admin, { id }) => admin.delete(`/v1/users/${id}?erase=true`)],
    [
      'suspension in a batch',
      (admin, { email }) =>
        admin.post('/v1/users/batch', { onExists: 'update', items: [{ email, status: 'suspended' }] }),
    ],
    [
      'a password in a batch',
      (admin, { email }) =>
        admin.post('/v1/users/batch', { onExists: 'update', items: [{ email, password }] }),
    ],
  ])('%s', async ([, end], { academy, admin, learner, analyst }) => {
    const left = await signIn(academy, learner)
    const leftOfOther = await signIn(academy, analyst)
    expect(await left()).toEqual(both)
    expect([200, 204]).toContain((await end(admin, learner)).status)
    expect(await left()).toEqual(none)
    expect(await leftOfOther()).toEqual(both)
    const revived = await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
    expect(revived.status).toBe(200)
    expect(await left()).toEqual(none)
  })

  test('a new password of one’s own, and with no wrong one', async ({ academy, admin, learner }) => {
    await admin.put(`/v1/users/${learner.id}`, { password })
    const left = await signIn(academy, learner)
    const change = { password: 'staple of the second', currentPassword: 'not the current one' }
    expect((await learner.put('/v1/user/profile', change)).status).toBe(422)
    expect(await left()).toEqual(both)
    expect((await learner.put('/v1/user/profile', { ...change, currentPassword: password })).status).toBe(200)
    expect(await left()).toEqual(none)
  })

  test('nothing else that is changed', async ({ academy, admin, learner }) => {
    const left = await signIn(academy, learner)
    await admin.put(`/v1/users/${learner.id}`, { role: 'analyst', username: 'ada', password: null })
    await learner.put('/v1/user/profile', { profile: { firstName: 'Ada' } })
    expect(await left()).toEqual(both)
  })
})

test('a user has at most 50 grants: the idlest one ends', async ({ academy, analyst, clock, learner }) => {
  const client = {
    ...{ id: ownClientId, name: 'learnctl', redirectUris: [], isPublic: true, secretHash: null },
    machineScopes: [],
  }
  const signIn = async () => {
    clock.advance(minute)
    const opened = await academy.database.write((database) =>
      openGrant(
        { database, now: clock.now(), newId: idMaker(clock.now), origin: nowhere },
        { client, userId: learner.id, scopes: ['read'] },
      ),
    )
    return opened.grantId
  }
  const { id: other } = await createGrant(academy, { userId: analyst.id })
  const first = await createGrant(academy, { userId: learner.id })
  const second = await signIn()
  for (let count = 2; count < 50; count += 1) await signIn()
  clock.advance(minute)
  expect((await academy.bearer(`Bearer ${first.accessToken}`).get('/v1/courses')).status).toBe(200)
  const latest = await signIn()
  const live = ids(await learner.get('/v1/grants?limit=100'))
  expect(live).toHaveLength(50)
  expect(live).toContain(latest)
  expect(live).toContain(first.id)
  expect(live).not.toContain(second)
  expect(ids(await analyst.get('/v1/grants'))).toEqual([other])
  const entry = await academy.database.one(
    sql`select user_id from audit_entries where action = 'grant.revoked' and subject_id = ${second}`,
  )
  expect(entry).toEqual({ user_id: learner.id })
})
