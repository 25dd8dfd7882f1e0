import { existsSync, readFileSync, rmSync } from 'node:fs'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { keyPathOf } from '../../../src/server/access/sealing.ts'
import { integrationOf, webhookSecretsAt } from '../../../src/server/integrations/integration.ts'
import { day, hour, type Person, start, type TestAcademy, test } from '../../helpers/academy.ts'

const canvas = '/v1/integrations/canvas'
// Not real secrets: long enough, and easy to search for.
const [first, second, third] = [
  'first-webhook-secret-0001',
  'second-webhook-secret-0002',
  'third-webhook-secret-03',
]
const token = 'an-access-token-of-canvas-9876'
const after = (ms: number) => new Date(Date.parse(start) + ms).toISOString()

/** Returns the webhook secrets that are valid now, as the receiver of a delivery does. */
async function accepted({ database, sealing, clock }: TestAcademy): Promise<string[]> {
  const integration = await integrationOf(database, 'canvas')
  if (!integration) return []
  return webhookSecretsAt(integration, sealing, clock.now().toISOString())
}

const rotate = (admin: Person, secrets: readonly string[] | null, oldSecretEndsAt?: string | null) =>
  admin.put(canvas, { webhookSecrets: secrets, oldSecretEndsAt })

test('an integration is set up by a PUT, and changed by others that merge', async ({ academy, admin }) => {
  expect((await admin.get(canvas)).status).toBe(404)
  const made = await admin.put(canvas, { baseUrl: 'https://canvas.example.edu/', rootAccountUuid: 'abc' })
  expect(made.status).toBe(200)
  expect(made.headers.get('etag')).toBe('"1"')
  expect(made.body).toEqual({
    lmsKind: 'canvas',
    baseUrl: 'https://canvas.example.edu',
    secrets: { accessToken: null, clientSecret: null, refreshToken: null, webhook: [] },
    clientId: null,
    tokenUrl: null,
    rootAccountUuid: 'abc',
    jwksUrl: null,
    jwks: null,
    gradeToProgress: 'none',
    gradeItems: {},
    defaultGradeMaximum: 100,
    webhookPath: '/webhooks/canvas/grades',
    version: 1,
    createdAt: start,
    updatedAt: start,
  })
  academy.clock.advance(hour)
  const items = { '12': { name: 'Quiz', maximum: 20, weight: null } }
  const more = await admin.put(canvas, { gradeToProgress: 'percent', gradeItems: items })
  expect(more.body).toMatchObject({
    rootAccountUuid: 'abc',
    gradeToProgress: 'percent',
    gradeItems: items,
    version: 2,
    createdAt: start,
    updatedAt: after(hour),
  })
  const added = await admin.put(canvas, { gradeItems: { '13': { maximum: 5 } }, baseUrl: null })
  expect(added.body.gradeItems).toEqual({ ...items, '13': { name: '', maximum: 5, weight: null } })
  expect(added.body.baseUrl).toBeNull()
  expect((await admin.put(canvas, { gradeItems: { '12': null } })).body.gradeItems).toEqual({
    '13': { name: '', maximum: 5, weight: null },
  })
  expect(
    (await admin.get('/v1/integrations')).body.data.map(({ lmsKind }: { lmsKind: string }) => lmsKind),
  ).toEqual(['canvas'])
  expect((await admin.delete(canvas)).status).toBe(204)
  expect((await admin.get(canvas)).status).toBe(404)
})

test('an older version is not changed, nor removed', async ({ admin }) => {
  await admin.put(canvas, {})
  expect((await admin.put(canvas, { rootAccountUuid: 'x' }, { 'if-match': '"7"' })).status).toBe(412)
  expect((await admin.delete(canvas, { 'if-match': '"7"' })).status).toBe(412)
  expect((await admin.put('/v1/integrations/moodle', {}, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.delete(canvas, { 'if-match': '"1"' })).status).toBe(204)
})

test('secrets are in no answer, log, error or table as they are', async ({ academy, admin }) => {
  const sent = { accessToken: token, webhookSecrets: [first, second], oldSecretEndsAt: after(day) }
  const answers = [
    await admin.put(canvas, sent),
    await admin.get(canvas),
    await admin.get('/v1/integrations'),
    await admin.post(`${canvas}/test`, undefined, { 'idempotency-key': '"once"' }),
    await admin.put(canvas, { ...sent, gradeToProgress: 'all' }),
    await admin.put(canvas, { ...sent, webhookSecrets: [first, first] }),
    await admin.put(canvas, { ...sent, webhookSecrets: [first, second, third] }),
    await admin.put(canvas, { ...sent, accessToken: `${token}\n` }),
    await admin.put('/v1/integrations/standard', sent),
    await admin.put('/v1/integrations/moodle', { ...sent, unknown: token }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 422, 422, 422, 422, 422, 422])
  const output = JSON.stringify([answers.map(({ text }) => text), academy.logged])
  const tables = await academy.database.all<{ name: string }>(
    !academy.database.dialect.hasManyWriters
      ? sql`select name from sqlite_schema where type = 'table'`
      : sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const rows: unknown[] = []
  for (const { name } of tables.filter((table) => !/^sqlite_|search/.test(table.name))) {
    rows.push(
      await academy.database.cells({
        strings: [`select * from ${name}`],
        sql: `select * from ${name}`,
        text: `select * from ${name}`,
        values: [],
      } as never),
    )
  }
  for (const secret of [token, first, second, third]) {
    expect(output).not.toContain(secret)
    expect(JSON.stringify(rows)).not.toContain(secret)
  }
  expect(JSON.stringify(rows)).toContain('integration.updated')
  expect(answers[1]?.body.secrets).toEqual({
    accessToken: { setAt: start, last4: '9876', endsAt: null },
    clientSecret: null,
    refreshToken: null,
    webhook: [
      { setAt: start, last4: '0001', endsAt: null },
      { setAt: start, last4: '0002', endsAt: after(day) },
    ],
  })
})

test('an access token goes to no other address than the one that it was set for', async ({ admin }) => {
  const here = 'https://canvas.example.edu'
  await admin.put(canvas, { baseUrl: here, accessToken: token })
  const refused = { status: 422, body: { errors: [{ pointer: '#/baseUrl', code: 'access_token_required' }] } }
  for (const baseUrl of ['https://other.example', 'http://canvas.example.edu', `${here}/other`]) {
    expect(await admin.put(canvas, { baseUrl })).toMatchObject(refused)
  }
  expect((await admin.put(canvas, { baseUrl: `${here}/`, gradeToProgress: 'percent' })).status).toBe(200)
  // The same in two steps.
  expect((await admin.put(canvas, { baseUrl: null })).body.baseUrl).toBeNull()
  expect(await admin.put(canvas, { baseUrl: 'https://other.example' })).toMatchObject(refused)
  expect((await admin.put(canvas, { baseUrl: here, accessToken: token })).status).toBe(200)
  const without = await admin.put(canvas, { baseUrl: 'https://other.example', accessToken: null })
  expect(without.body.secrets.accessToken).toBeNull()
  expect((await admin.put(canvas, { baseUrl: here })).status).toBe(200)
})

test('no part of a short secret is shown', async ({ admin }) => {
  const { body } = await admin.put('/v1/integrations/moodle', { webhookSecrets: ['short-one'] })
  expect(body.secrets.webhook).toEqual([{ setAt: start, last4: null, endsAt: null }])
})

test('during a rotation both secrets count, until the end of the old one', async ({ academy, admin }) => {
  await rotate(admin, [first])
  expect(await accepted(academy)).toEqual([first])
  await rotate(admin, [second], after(day))
  expect(await accepted(academy)).toEqual([second, first])
  academy.clock.advance(day)
  expect(await accepted(academy)).toEqual([second])
  expect((await admin.get(canvas)).body.secrets.webhook).toHaveLength(1)
})

test('a rotation can be ended early, and a third secret takes the place of the first', async ({
  academy,
  admin,
}) => {
  await rotate(admin, [first])
  await rotate(admin, [second], after(day))
  await rotate(admin, [third], after(day))
  expect(await accepted(academy)).toEqual([third, second])
  await admin.put(canvas, { oldSecretEndsAt: null })
  expect(await accepted(academy)).toEqual([third])
  await rotate(admin, [first])
  expect(await accepted(academy)).toEqual([first])
  await rotate(admin, null)
  expect(await accepted(academy)).toEqual([])
  expect((await rotate(admin, [first], after(400 * day))).body.errors[0]).toMatchObject({
    pointer: '#/oldSecretEndsAt',
    code: 'too_late',
  })
})

test.for([
  ['canvas', { baseUrl: 'ftp://x.example' }, '#/baseUrl', 'invalid_url'],
  ['canvas', { baseUrl: 'https://me:pw@x.example' }, '#/baseUrl', 'invalid_url'],
  ['canvas', { baseUrl: 'https://x.example/?token=1' }, '#/baseUrl', 'invalid_url'],
  ['canvas', { jwksUrl: 'http://x.example/jwks' }, '#/jwksUrl', 'invalid_url'],
  ['moodle', { rootAccountUuid: 'abc' }, '#/rootAccountUuid', 'not_applicable'],
  ['moodle', { jwksUrl: 'https://x.example/jwks' }, '#/jwksUrl', 'not_applicable'],
  ['moodle', { webhookSecrets: ['short'] }, '#/webhookSecrets/0', 'too_short'],
  ['moodle', { webhookSecrets: ['  spaces around '] }, '#/webhookSecrets/0', 'invalid_secret'],
  ['standard', { webhookSecrets: ['no-standard-secret-at-all'] }, '#/webhookSecrets/0', 'invalid_secret'],
  ['standard', { webhookSecrets: ['whsec_c2hvcnQ='] }, '#/webhookSecrets/0', 'invalid_secret'],
  // The last character has bits that no byte has.
  ['standard', { webhookSecrets: [`whsec_${'A'.repeat(33)}B==`] }, '#/webhookSecrets/0', 'invalid_secret'],
  ['moodle', { gradeItems: { 1: { maximum: 0 } } }, '#/gradeItems/1/maximum', 'out_of_range'],
  ['canvas', { jwks: { keys: [] } }, '#/jwks/keys', 'too_short'],
] as const)('%s refuses %j', async ([kind, body, pointer, code], { admin }) => {
  const answer = await admin.put(`/v1/integrations/${kind}`, body)
  expect(answer.status).toBe(422)
  expect(answer.body.errors).toMatchObject([{ pointer, code }])
})

test('a key set keeps what verifies a signature, and no private key', async ({ admin }) => {
  const key = { kty: 'RSA', kid: '2018-05-18T22:33:20Z', n: 'x'.repeat(342), e: 'AQAB' }
  const { body } = await admin.put(canvas, { jwks: { keys: [{ ...key, alg: 'RS256', d: 'private' }] } })
  expect(body.jwks).toEqual({ keys: [key] })
})

test.for(['blackboard', 'CANVAS', '..', 'constructor'])(
  '%s is no kind of system',
  async (kind, { admin }) => {
    for (const answer of [
      await admin.get(`/v1/integrations/${encodeURIComponent(kind)}`),
      await admin.put(`/v1/integrations/${encodeURIComponent(kind)}`, {}),
      await admin.post(`/v1/integrations/${encodeURIComponent(kind)}/test`),
      await admin.get(`/v1/integrations/${encodeURIComponent(kind)}/mappings`),
    ]) {
      expect(answer.status).toBe(404)
    }
  },
)

test('without its key, an academy says so instead of failing, and goes on with all else', async ({
  academy,
  admin,
}) => {
  await admin.put(canvas, { webhookSecrets: [first], accessToken: token })
  const path = keyPathOf(academy.path)
  const key = readFileSync(path)
  rmSync(path)
  const refused = await admin.put(canvas, { webhookSecrets: [second] })
  expect(refused).toMatchObject({ status: 503, body: { code: 'encryption_unavailable' } })
  expect(refused.body.detail).toBe(
    'Encryption key file academy.db.key is missing: restore it from where it was kept.',
  )
  expect(existsSync(path)).toBe(false)
  expect((await admin.put(canvas, { gradeToProgress: 'percent' })).status).toBe(200)
  expect((await admin.get(canvas)).body.secrets.webhook).toHaveLength(1)
  const check = await admin.post(`${canvas}/test`)
  expect(check.body.checks).toContainEqual({
    name: 'webhookSecret',
    status: 'failed',
    detail: 'Encryption key file academy.db.key is missing: restore it from where it was kept',
  })
  expect(key).not.toHaveLength(0)
  expect((await admin.put(canvas, { webhookSecrets: null, accessToken: null })).status).toBe(200)
})

test('removing an integration takes its secrets, and keeps its mappings', async ({
  academy,
  admin,
  learner,
}) => {
  await admin.put(canvas, { webhookSecrets: [first] })
  await admin.put(`${canvas}/mappings`, { noun: 'user', externalKey: '48', reference: learner.id })
  await admin.delete(canvas)
  expect(await academy.database.all(sql`select * from integrations`)).toEqual([])
  expect((await admin.get(`${canvas}/mappings`)).body.data).toHaveLength(1)
  await admin.put(canvas, {})
  expect((await admin.get(canvas)).body).toMatchObject({ version: 1, secrets: { webhook: [] } })
})

test('a connection check says what came last, and what became of it', async ({ academy, admin }) => {
  const moodle = '/v1/integrations/moodle'
  await admin.put(moodle, { webhookSecrets: [first] })
  const last = async () =>
    (await admin.post(`${moodle}/test`)).body.checks.find(
      ({ name }: { name: string }) => name === 'lastDelivery',
    )
  expect(await last()).toMatchObject({ status: 'skipped', detail: 'nothing has been received lately' })
  const graded = {
    eventname: '\\core\\event\\user_graded',
    userid: '2',
    courseid: '4',
    relateduserid: '15',
    other: { itemid: '12', finalgrade: '85.00000' },
    timecreated: Date.parse(start) / 1000,
    token: first,
  }
  const sent = await academy.bearer(undefined).post('/webhooks/moodle/grades', graded)
  expect(sent).toMatchObject({ status: 202, body: { status: 'unmatched' } })
  expect(await last()).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(`on ${start}: unmatched$`),
  })
})
