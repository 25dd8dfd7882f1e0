import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { isCredential } from '../../../src/codec/credential-text.ts'
import type { PlainBrowser, Shown } from '../../helpers/browser.ts'
import { test, thingsOf } from './signed-in.ts'

const button = 'Register application'
const filledIn = { name: 'Gradebook', redirectUris: 'https://g.example/cb\r\n\r\n  http://127.0.0.1/cb ' }

async function register(browser: PlainBrowser, fields: Record<string, string> = {}): Promise<Shown> {
  return browser.submit(await browser.open('/dashboard/apps'), { ...filledIn, ...fields }, button)
}

test('an application is registered with a secret', { tags: ['slow'] }, async ({
  academy,
  admin,
  browser,
}) => {
  const page = await register(browser)
  const [secret = '', clientId = ''] = [...page.html.matchAll(/<code[^>]*>([^<]+)</g)].map(([, code]) => code)
  expect(isCredential('clientSecret', secret)).toBe(true)
  expect((await admin.get('/v1/apps')).body.data).toContainEqual({
    clientId,
    name: 'Gradebook',
    redirectUris: ['https://g.example/cb', 'http://127.0.0.1/cb'],
    public: false,
    machineScopes: [],
    createdAt: '2026-03-01T12:00:00.000Z',
  })
  const listed = await browser.open('/dashboard/apps')
  expect(listed.text).toContain(
    `Gradebook ${clientId} confidential https://g.example/cb http://127.0.0.1/cb – 1 Mar 2026 Delete`,
  )
  expect(listed.html).not.toContain(secret)
  expect(
    JSON.stringify([academy.logged, await academy.database.all(sql`select * from idempotency`)]),
  ).not.toContain(secret)
})

test('one that acts for itself needs scopes, and no redirect URI', async ({ browser }) => {
  const page = await register(browser, { redirectUris: '', machineScopes: 'roster.readonly' })
  expect(page.text).toContain('Machine scopes roster.readonly')
  expect(page.text).not.toContain('Redirect URIs')
  expect((await browser.open('/dashboard/apps')).text).toMatch(
    /confidential roster\.readonly 1 Mar 2026 Delete/,
  )
})

test('a public one has no secret: its page may be loaded again', async ({ admin, signIn }) => {
  const page = await register(await signIn(admin), { public: 'true' })
  expect(page.url).toBe('http://localhost/dashboard/apps?done=app_made')
  expect(page.text).toMatch(/Application registered\. .* Gradebook app_\w+ public/)
  expect(page.html).not.toContain('lps_')
})

test.for([
  ['public', 'true'],
  ['confidential', 'false'],
] as const)(
  'the form of a %s one sent again registers no second one',
  async ([, isPublic], { academy, browser }) => {
    const form = await browser.open('/dashboard/apps')
    for (const _ of [1, 2, 3]) await browser.submit(form, { ...filledIn, public: isPublic }, button)
    const again = await browser.submit(form, { ...filledIn, public: isPublic }, button)
    expect(again.url).toBe('http://localhost/dashboard/apps?done=app_made_before')
    expect(again.html).not.toMatch(/lps_\w{36}/)
    expect(
      await academy.database.all(sql`select id from oauth_clients where name = 'Gradebook'`),
    ).toHaveLength(1)
  },
)

test('an invalid redirect URI is reported with its line, and the input stays', async ({ browser }) => {
  const redirectUris = 'https://g.example/cb\nhttp://g.example/cb'
  const page = await register(browser, { redirectUris, public: 'true' })
  expect(page.status).toBe(422)
  expect(page.text).toContain('Redirect URIs, line 2, must be an https URI')
  expect(page.html).toMatch(
    /aria-invalid="true">https:\/\/g\.example\/cb\nhttp:\/\/g\.example\/cb<\/textarea>/,
  )
  expect(page.html).toContain('name="public" value="true" checked')
  const done = await browser.submit(page, { redirectUris: 'https://g.example/cb' }, button)
  expect(done.url).toBe('http://localhost/dashboard/apps?done=app_made')
})

test('an application is deleted with its grants when confirmed', async ({ academy, admin, browser }) => {
  const { clientId, grantId } = await thingsOf(academy, admin, admin)
  const asked = await browser.open(`/dashboard/apps/${clientId}/delete`)
  expect(asked.text).toContain(clientId)
  const done = await browser.submit(asked, {}, 'Delete application')
  expect(done.url).toBe('http://localhost/dashboard/apps?done=app_deleted')
  expect(done.html).not.toContain(clientId)
  expect(await academy.database.all(sql`select id from grants where id = ${grantId}`)).toEqual([])
})
