import sql from 'sql-template-tag'
import type { RoleName } from '../../../src/contract/operation.ts'
import { dashboardRoutes } from '../../../src/server/dashboard/pages.ts'
import { test as base, hour, type Person, type TestAcademy } from '../../helpers/academy.ts'
import { type PlainBrowser, plainBrowser, type Shown } from '../../helpers/browser.ts'
import { sample } from '../../lms/samples.ts'
import { givePassword, issuer, openFlow, password, register } from '../oauth/flow.ts'

/** Opens a browser and signs the user in. */
export type SignIn = (person: Person) => Promise<PlainBrowser>

/** Opens a browser of an academy, and signs the user in. */
export async function signInTo(academy: TestAcademy, person: Person): Promise<PlainBrowser> {
  await givePassword(academy, person.id)
  const browser = plainBrowser(academy.fetch, issuer)
  const page = await browser.signIn(await browser.open('/dashboard'), person.email, password)
  if (page.status !== 200) throw new Error(`${person.email} cannot sign in: ${page.text}`)
  return browser
}

/** A vitest test with users who are signed in to the dashboard; `browser` is that of an admin. */
export const test = base
  .extend('flow', ({ academy }) => openFlow(academy))
  .extend('signIn', ({ academy }): SignIn => {
    return (person) => signInTo(academy, person)
  })
  .extend('browser', ({ admin, signIn }) => signIn(admin))

/** Returns the paths of the dashboard with this method. */
export function pathsOf(method: 'GET' | 'POST'): string[] {
  return dashboardRoutes.filter((route) => route.method === method).map(({ path }) => path)
}

/** Records of a user that paths can name. */
export interface Things {
  readonly courseId: string
  readonly userId: string
  readonly gradeId: string
  readonly keyId: string
  readonly clientId: string
  readonly grantId: string
  readonly sessionId: string
  readonly endpointId: string
  readonly messageId: string
  readonly calendarId: string
  readonly lmsKind: string
  readonly entryId: string
  readonly changeId: string
  readonly deliveryId: string
}

/** Starts a session of a user in another browser. */
export async function startOtherSession({ database, clock }: TestAcademy, { id }: Person): Promise<string> {
  const [now, later] = [clock.now(), new Date(clock.now().getTime() + hour)].map((time) => time.toISOString())
  const sessionId = `ses_${id}`
  await database.run(sql`
    insert into browser_sessions (hash, id, user_id, browser, place, created_at, expires_at)
    values (${sessionId}, ${sessionId}, ${id}, 'Firefox on Linux', '198.51.100.*', ${now}, ${later})`)
  return sessionId
}

/** Makes a webhook endpoint and a failed message to it. */
async function webhooksOf({ database }: TestAcademy, admin: Person) {
  const { body } = await admin.get('/v1/webhooks/endpoints?limit=1')
  const endpoint = body.data[0] ?? (await admin.post('/v1/webhooks/endpoints', { url: hookUrl })).body
  await admin.put(`/v1/webhooks/endpoints/${endpoint.id}`, { status: 'active' })
  const message = await admin.post(`/v1/webhooks/endpoints/${endpoint.id}/test`)
  await database.run(sql`
    update webhook_messages set status = 'failed', due_at = null, finished_at = created_at, last_result = 'HTTP 500',
      attempt_count = 1
    where id = ${message.body.id}`)
  return { endpointId: endpoint.id as string, messageId: message.body.id as string }
}

const hookUrl = 'https://receiver.example/hook'

/** Connects a Moodle. */
async function integrationOf(admin: Person): Promise<string> {
  await admin.put('/v1/integrations/moodle', { webhookSecrets: ['the first secret text'] })
  return 'moodle'
}

/** Sends a delivery that matches neither course nor learner. */
async function deliveryOf({ database }: TestAcademy): Promise<string> {
  const body = sample('moodle_local_webhooks.user_graded.composed')
  const now = '2026-03-01T12:00:00.000Z'
  await database.run(sql`
    insert into webhook_deliveries (id, lms_kind, delivery_key, event, status, missing, body, replays, received_at, processed_at)
    values ('whd_unmatched', 'moodle', 'key', ${String(body['eventname'])}, 'unmatched', '["course","learner"]', ${JSON.stringify(body)},
            0, ${now}, ${now})
    on conflict do nothing`)
  return 'whd_unmatched'
}

/** Makes a change of many records by a user. */
async function changeOf({ database }: TestAcademy, { id }: Person): Promise<string> {
  const changeId = `chg_${id}`
  await database.run(sql`
    insert into changes (id, user_id, command, source, state, created_at)
    values (${changeId}, ${id}, 'users import', 'users.csv', 'running', '2026-03-01T12:00:00.000Z')`)
  return changeId
}

/**
 * Makes a published course, webhooks, an integration, and for the owner a key, a grant and a session in another
 * browser.
 */
export async function thingsOf(academy: TestAcademy, owner: Person, admin: Person): Promise<Things> {
  const course = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  const given = { learnerId: owner.id, courseId: course.body.id }
  for (const role of ['learner', 'instructor'])
    await admin.post('/v1/enrollments', { courseId: given.courseId, userId: owner.id, role })
  const grade = await academy.grade({ ...given, scoreGiven: 85 })
  const key = await admin.post('/v1/keys', { name: 'of mine', userId: owner.id })
  const { clientId, clientSecret } = await register(academy)
  await openFlow(academy).tokens(owner, {
    client_id: clientId,
    client_secret: clientSecret ?? '',
    scope: 'read',
  })
  const grant = await academy.database.one<{ id: string }>(
    sql`select id from grants where user_id = ${owner.id}`,
  )
  return {
    courseId: course.body.id,
    userId: owner.id,
    gradeId: grade.id,
    keyId: key.body.id,
    clientId,
    grantId: grant?.id ?? '',
    sessionId: await startOtherSession(academy, owner),
    ...(await webhooksOf(academy, admin)),
    calendarId: (await admin.post('/v1/calendars', { userId: owner.id })).body.id,
    lmsKind: await integrationOf(admin),
    deliveryId: await deliveryOf(academy),
    changeId: await changeOf(academy, owner),
    entryId: (await admin.get(`/v1/audit?subject_id=${course.body.id}`)).body.data[0].id,
  }
}

/** Fills in the parameters of a path. */
export function fillPath(path: string, things: Things): string {
  return path.replace(/:(\w+)/g, (_, name: keyof Things) => things[name]).replace('*', 'nowhere')
}

/** Returns all records that a form of the dashboard could change. */
export function readChangeable({ database }: TestAcademy): Promise<unknown> {
  const queries = [
    sql`select id, revoked_at from api_keys order by id`,
    sql`select id, revoked_at from grants order by id`,
    sql`select id from oauth_clients order by id`,
    sql`select id, password_hash from users order by id`,
    sql`select hash from browser_sessions order by hash`,
    sql`select id, status, url, secret, deleted_at from webhook_endpoints order by id`,
    sql`select id, status from webhook_messages order by id`,
    sql`select id from calendars order by id`,
    sql`select lms_kind, version from integrations order by lms_kind`,
    sql`select id, version from integration_mappings order by id`,
    sql`select id, status, replays from webhook_deliveries order by id`,
  ]
  return Promise.all(queries.map((query) => database.all(query)))
}

/** Every role. */
export const roles: readonly RoleName[] = ['admin', 'instructor', 'analyst', 'learner']

/** Returns the CSRF token of this browser. */
export async function csrfOf(browser: PlainBrowser): Promise<string> {
  return csrfIn(await browser.open('/dashboard'))
}

/** Returns the CSRF token of a page: each has a form with it, to sign in or out. */
function csrfIn({ forms }: Shown): string {
  return forms[0]?.fields['csrf'] ?? ''
}

/** Sends a form without its page; undefined fields are left out, and so is the CSRF token unless it is given. */
export async function sendForm(
  browser: PlainBrowser,
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
): Promise<Shown> {
  const page = await browser.open('/dashboard')
  const given = Object.entries({ csrf: csrfIn(page), ...fields })
  const form = {
    action: path,
    method: 'post',
    fields: Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    buttons: [],
  }
  return browser.submit({ ...page, forms: [form] }, {})
}

/** Field that allows a form to be sent only once. */
export const once = `req_${'0'.repeat(29)}`

/** Field values by path with which each form has an effect. */
export const complete: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/dashboard/keys': { once, name: 'one more', scopes: 'read' },
  '/dashboard/apps': { once, name: 'one more', redirectUris: 'https://a.example/', public: 'false' },
  '/dashboard/integrations/:lmsKind': { action: 'save', webhookSecrets: 'the second secret text' },
  '/dashboard/endpoints': { once, url: 'https://another.example/hook', events: '*' },
  '/dashboard/endpoints/:endpointId': { action: 'disable' },
  '/dashboard/endpoints/:endpointId/rotate': { once },
  '/dashboard/calendars': { once, userId: 'admin-1@school.example' },
  '/dashboard/account': {
    currentPassword: password,
    password: 'a new long password',
    repeated: 'a new long password',
  },
}
