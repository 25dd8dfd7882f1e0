import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { isCredential } from '../../../src/codec/credential-text.ts'
import { grantable } from '../../../src/server/access/principal.ts'
import { day } from '../../helpers/academy.ts'
import type { PlainBrowser, Shown } from '../../helpers/browser.ts'
import { roles, test } from './signed-in.ts'

const button = 'Create key'

/** Returns the key on the page that shows it. */
function keyOn({ html }: Shown): string {
  return /<code class="code secret">([^<]*)<\/code>/.exec(html)?.[1] ?? ''
}

async function create(browser: PlainBrowser, fields: Record<string, string | readonly string[]> = {}) {
  return browser.submit(await browser.open('/dashboard/keys'), { name: 'nightly', ...fields }, button)
}

test.for(roles)(
  'who is %s makes keys with all that their role may have',
  async (role, { academy, signIn }) => {
    const person = await academy.person(role)
    const browser = await signIn(person)
    const page = await create(browser, { scopes: grantable[role], expiresAt: '2026-03-02' })
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Copy the key now') })
    const key = keyOn(page)
    expect(isCredential('apiKey', key)).toBe(true)
    expect((await academy.bearer(`Bearer ${key}`).get('/v1/user/profile')).body).toMatchObject({
      id: person.id,
      scopes: grantable[role],
    })
  },
)

test('a form offers no scope beyond the role, and makes none', async ({ analyst, signIn }) => {
  const browser = await signIn(analyst)
  const page = await browser.open('/dashboard/keys')
  expect(page.html.match(/name="scopes" value="\w+"/g)).toEqual(['name="scopes" value="read"'])
  const refused = await browser.submit(page, { name: 'x', scopes: ['read', 'admin'] }, button)
  expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('Scopes must be among read') })
})

test('a key is shown on the page that makes it, and nowhere else', async ({ academy, analyst, signIn }) => {
  const browser = await signIn(analyst)
  const page = await create(browser)
  const key = keyOn(page)
  expect(page.url).toBe('http://localhost/dashboard/keys')
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect([...browser.cookies.values()].join()).not.toContain(key)
  const listed = await browser.open('/dashboard/keys')
  expect(listed.html).not.toContain(key)
  expect(listed.text).toContain(`nightly lpk_…${key.slice(-4)} read`)
  expect(JSON.stringify(academy.logged)).not.toContain(key)
  const kept = await academy.database.all(sql`select * from idempotency`)
  expect(kept).toHaveLength(1)
  expect(JSON.stringify(kept)).not.toContain(key)
})

test('a form sent again makes no second key, without its mark none', async ({ academy, analyst, signIn }) => {
  const browser = await signIn(analyst)
  const form = await browser.open('/dashboard/keys')
  const first = await browser.submit(form, { name: 'nightly' }, button)
  const again = await browser.submit(form, { name: 'nightly' }, button)
  expect(again).toMatchObject({ status: 200, url: 'http://localhost/dashboard/keys?done=key_made_before' })
  expect(again.text).toContain('no second key was created')
  expect(again.html).not.toContain(keyOn(first))
  const named = sql`select id from api_keys where name = 'nightly'`
  expect(await academy.database.all(named)).toHaveLength(1)
  await create(browser)
  expect(await academy.database.all(named)).toHaveLength(2)
  expect(await create(browser, { once: '' })).toMatchObject({ status: 400 })
})

test('every fault of a form is shown at its field, and the input stays', async ({ analyst, signIn }) => {
  const browser = await signIn(analyst)
  const page = await create(browser, { name: '<b> ', scopes: [], expiresAt: '2020-01-01' })
  expect(page.status).toBe(422)
  expect(page.text).toContain('Scopes must have at least 1 item')
  expect(page.html).toMatch(/<title>Error: API keys/)
  expect(page.html).toContain('role="alert"')
  const again = await browser.submit(page, { scopes: ['read'] }, button)
  expect(again.text).toContain('Expiry date must be in the future')
  expect(again.html).toContain('value="2020-01-01" aria-describedby="expiresAt-hint" aria-invalid="true"')
  expect(await browser.submit(again, { expiresAt: '2026-02-30' }, button)).toMatchObject({
    status: 422,
    text: expect.stringContaining('Expiry date must be a day such as 2027-01-31'),
  })
  expect(await browser.submit(again, { name: ' ', expiresAt: '' }, button)).toMatchObject({
    status: 422,
    text: expect.stringContaining('Name must have at least 1 character'),
  })
  const done = await browser.submit(again, { expiresAt: '' }, button)
  expect(done).toMatchObject({
    status: 200,
    text: expect.stringContaining('Name <b> Scopes read Expires End of 2027-03-01 (UTC)'),
  })
})

test('a key lasts a year unless another day is chosen, or never is ticked', async ({ analyst, signIn }) => {
  const browser = await signIn(analyst)
  const page = await browser.open('/dashboard/keys')
  expect(page.html).toContain('type="date" value="2027-03-01"')
  expect((await create(browser)).text).toContain('Expires End of 2027-03-01 (UTC)')
  expect((await create(browser, { never: ['true'] })).text).toContain('Expires Never')
})

test('a key is good until its last day is over', async ({ academy, analyst, clock, signIn }) => {
  const browser = await signIn(analyst)
  const key = academy.bearer(`Bearer ${keyOn(await create(browser, { expiresAt: '2026-03-02' }))}`)
  clock.advance(1.49 * day)
  expect((await key.get('/v1/user/profile')).status).toBe(200)
  clock.advance(0.02 * day)
  expect((await key.get('/v1/user/profile')).body).toMatchObject({ code: 'expired_key' })
  const page = await (await signIn(analyst)).open('/dashboard/keys')
  expect(page.text).toContain('2 Mar 2026 expired')
})

test('a key is revoked after a question', async ({ academy, analyst, signIn }) => {
  const browser = await signIn(analyst)
  const key = academy.bearer(`Bearer ${keyOn(await create(browser))}`)
  const list = await browser.open('/dashboard/keys')
  const asked = await browser.open(
    /href="([^"]+\/revoke)">Revoke<span class="unseen"> nightly/.exec(list.html)?.[1] ?? '',
  )
  expect(asked.text).toContain('nightly')
  expect((await key.get('/v1/user/profile')).status).toBe(200)
  const done = await browser.submit(asked, {}, 'Revoke key')
  expect(done).toMatchObject({ url: 'http://localhost/dashboard/keys?done=key_revoked', status: 200 })
  expect(done.text).toContain('API key revoked.')
  expect(done.text).toMatch(/nightly .* revoked/)
  expect(done.html).not.toMatch(/Revoke<span class="unseen"> nightly/)
  expect((await key.get('/v1/user/profile')).status).toBe(401)
})

test('keys of other users do not appear', async ({ academy, admin, analyst, signIn }) => {
  const other = await academy.person('learner')
  await admin.post('/v1/keys', { name: 'of another', userId: other.id })
  for (const person of [analyst, admin]) {
    expect((await (await signIn(person)).open('/dashboard/keys')).text).not.toContain('of another')
  }
})
