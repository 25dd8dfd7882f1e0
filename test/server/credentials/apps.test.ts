import sql, { raw } from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { isCredential } from '../../../src/codec/credential-text.ts'
import { digest } from '../../../src/server/access/secret.ts'
import { type Person, start, test } from '../../helpers/academy.ts'
import { createGrant } from '../../helpers/signed-in.ts'

const reader = { name: 'Report reader', redirectUris: ['https://reports.school.example/cb'] }

/** Tables with rows of an application. */
const tables = [
  'grants',
  'authorization_codes',
  'access_tokens',
  'refresh_tokens',
  'device_codes',
  'oauth_clients',
] as const

function register(admin: Person, redirectUris: unknown, more: object = {}) {
  return admin.post('/v1/apps', { name: 'App', redirectUris, ...more })
}

test('an application is registered with a secret that is shown once', async ({ academy, admin }) => {
  const made = await admin.post('/v1/apps', { ...reader, name: '  Report reader ' })
  expect(made.status).toBe(201)
  const { clientSecret, ...shown } = made.body
  expect(shown).toEqual({
    clientId: expect.stringMatching(/^app_[0-9a-z]{29}$/),
    ...reader,
    public: false,
    machineScopes: [],
    createdAt: start,
  })
  expect(isCredential('clientSecret', clientSecret)).toBe(true)
  expect(made.headers.get('location')).toBe(`/v1/apps/${shown.clientId}`)
  const listed = await admin.get('/v1/apps')
  expect(listed.body.data).toContainEqual(shown)
  expect(listed.text).not.toContain(clientSecret)
  const kept = JSON.stringify(await academy.database.all(sql`select * from oauth_clients`))
  expect(kept).toContain(digest(clientSecret))
  expect(kept).not.toContain(clientSecret.slice(4))
})

test('a public application has no secret', async ({ academy, admin }) => {
  const made = await register(admin, ['com.example.app:/callback', 'http://127.0.0.1/cb'], { public: true })
  expect(made).toMatchObject({ status: 201, body: { public: true, clientSecret: null } })
  const row = await academy.database.one(sql`select * from oauth_clients where id = ${made.body.clientId}`)
  expect(row).toMatchObject({ is_public: 1, secret_hash: null })
})

test('a repeated Idempotency-Key registers nothing, and shows no secret', async ({ academy, admin }) => {
  const headers = { 'idempotency-key': 'register' }
  const first = await admin.post('/v1/apps', reader, headers)
  const again = await admin.post('/v1/apps', reader, headers)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again).toMatchObject({ status: 201, body: { ...first.body, clientSecret: null } })
  expect(again.headers.get('location')).toBe(first.headers.get('location'))
  expect((await admin.get('/v1/apps?include_total=true')).body.total).toBe(2)
  expect(JSON.stringify(await academy.database.all(sql`select * from idempotency`))).not.toContain(
    first.body.clientSecret,
  )
})

test('the client that learnctl is itself is there from the start, and stays', async ({ admin }) => {
  expect((await admin.get('/v1/apps')).body.data).toEqual([
    {
      clientId: 'learnctl',
      name: 'learnctl',
      redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
      public: true,
      machineScopes: [],
      createdAt: start,
    },
  ])
  expect(await admin.delete('/v1/apps/learnctl')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  expect((await admin.get('/v1/apps')).body.data).toHaveLength(1)
})

test('a deleted application takes what is its own along', async ({ academy, admin, learner }) => {
  const { clientId } = (await admin.post('/v1/apps', reader)).body
  const rows = () =>
    Promise.all(
      tables.map(async (table) => (await academy.database.all(raw(`select 1 from ${table}`))).length),
    )
  const { id: other } = await createGrant(academy, { userId: learner.id })
  expect(await rows()).toEqual([1, 0, 1, 1, 0, 2])
  const { accessToken } = await createGrant(academy, { userId: learner.id, clientId })
  const program = academy.bearer(`Bearer ${accessToken}`)
  expect((await program.get('/v1/grants')).status).toBe(200)
  await academy.database.run(sql`
    insert into authorization_codes (hash, client_id, user_id, redirect_uri, scopes, expires_at)
    values ('code', ${clientId}, ${learner.id}, 'https://reports.school.example/cb', '["read"]', ${start})`)
  await academy.database.run(sql`
    insert into device_codes (hash, user_code_hash, client_id, scopes, expires_at, interval_seconds)
    values ('device', 'BCDFGHJK', ${clientId}, '["read"]', ${start}, 5)`)
  expect(await rows()).toEqual([2, 1, 2, 2, 1, 2])
  expect((await admin.delete(`/v1/apps/${clientId}`)).status).toBe(204)
  expect(await program.get('/v1/grants')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  expect(await rows()).toEqual([1, 0, 1, 1, 0, 1])
  expect((await learner.get('/v1/grants')).body.data).toMatchObject([{ id: other }])
  expect(await admin.delete(`/v1/apps/${clientId}`)).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  })
})

test('applications are listed page by page, the newest first', async ({ admin, clock }) => {
  for (const name of ['a', 'b', 'c']) {
    clock.advance(1000)
    await register(admin, ['https://a.example/cb'], { name })
  }
  const first = await admin.get('/v1/apps?limit=3&include_total=true')
  expect(first.body).toMatchObject({ data: [{ name: 'c' }, { name: 'b' }, { name: 'a' }], total: 4 })
  const second = await admin.get(`/v1/apps?limit=3&cursor=${first.body.nextCursor}`)
  expect(second.body).toMatchObject({ data: [{ clientId: 'learnctl' }], nextCursor: null })
})

describe('a redirect URI', () => {
  test.for([
    'https://school.example',
    'https://school.example/',
    'https://school.example:8443/oauth/cb?x=1&y=a@b',
    'https://[2001:db8::1]/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:8976/cb',
    'http://[::1]:3000',
    'http://localhost:3000/oauth/callback',
  ])('may be %s', async (uri, { admin }) => {
    expect(await register(admin, [uri])).toMatchObject({ status: 201, body: { redirectUris: [uri] } })
  })

  test.for([
    '',
    '/callback',
    '//school.example/cb',
    'school.example/cb',
    'https:',
    'https:school.example/cb',
    'https:///school.example/cb',
    'https:\\\\school.example\\cb',
    'https://school.example/cb#',
    'https://school.example/cb#fragment',
    'https://user@school.example/cb',
    'https://user:secret@school.example/cb',
    'https://@school.example/cb',
    'https://school.example:99999/cb',
    'https://school.example/a b',
    ' https://school.example/cb',
    'https://school.example/cb\n',
    'https://schööl.example/cb',
    'http://school.example/cb',
    'http://127.0.0.1.school.example/cb',
    'http://127.0.0.1@school.example/cb',
    'http://127.1/cb',
    'http://localhost.school.example/cb',
    'http://192.168.0.1/cb',
    'http://0.0.0.0/cb',
    'ftp://school.example/cb',
    'javascript:alert(1)',
    'data:text/html,hello',
    'file:///etc/passwd',
    'app:/callback',
    'com.example.app:callback',
    'com.example.app:/',
    'com.example.app://user@host/cb',
  ])('may not be %j, not even of a public application', async (uri, { admin }) => {
    expect(await register(admin, ['https://a.example/cb', uri], { public: true })).toMatchObject({
      status: 422,
      body: {
        code: 'validation_failed',
        errors: [{ pointer: '#/redirectUris/1', code: 'invalid_redirect_uri' }],
      },
    })
  })

  test.for(['com.example.app:/callback', 'com.example.app://callback', 'io.example:/a/b?c=d'])(
    'of a public application alone may be %s',
    async (uri, { admin }) => {
      expect(await register(admin, [uri], { public: true })).toMatchObject({ status: 201 })
      // Reported together with the other faults.
      expect(await register(admin, ['https://a.example/cb', uri], { name: '' })).toMatchObject({
        status: 422,
        body: {
          errors: [
            { pointer: '#/name', code: 'too_short' },
            {
              pointer: '#/redirectUris/1',
              code: 'invalid_redirect_uri',
              detail: 'must be https or a loopback address; private-use schemes require a public application',
            },
          ],
        },
      })
    },
  )

  test('is needed, and there may be twenty', async ({ admin }) => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `https://a.example/${index}`)
    expect((await register(admin, many(20))).body.redirectUris).toEqual(many(20))
    for (const [uris, code] of [
      [undefined, 'required'],
      [[], 'too_short'],
      [many(21), 'too_long'],
      ['https://a.example/cb', 'invalid_type'],
    ] as const) {
      expect(await register(admin, uris)).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '#/redirectUris', code }] },
      })
    }
    const long = `https://a.example/${'a'.repeat(2048)}`
    expect(await register(admin, [long])).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/redirectUris/0', code: 'too_long' }] },
    })
  })
})
