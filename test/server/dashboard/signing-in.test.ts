import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { freshDirectory } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { givePassword, issuer, password } from '../oauth/flow.ts'
import { startServer } from '../socket/served.ts'
import { once, sendForm, test } from './signed-in.ts'

test('after signing in one is at the page that one asked for, with its query', async ({ academy, admin }) => {
  await givePassword(academy, admin.id)
  const browser = plainBrowser(academy.fetch, issuer)
  const page = await browser.open('/dashboard/keys?done=key_revoked')
  const there = await browser.signIn(page, admin.email, password)
  expect(there).toMatchObject({ status: 200, url: `${issuer}/dashboard/keys?done=key_revoked` })
  expect(there.text).toContain('Your keys')
})

test('the bare address of a server leads to the dashboard', async ({ academy }) => {
  const answer = await academy.bearer(undefined).get('/')
  expect(answer).toMatchObject({ status: 303, text: '' })
  expect(answer.headers.get('location')).toBe('/dashboard')
})

test('the form of the sign-in page sent a second time changes nothing', async ({ academy, browser }) => {
  const before = await academy.database.all(sql`select hash from browser_sessions`)
  const again = await sendForm(browser, '/dashboard/keys?x=1', {
    action: 'sign_in',
    account: 'nobody',
    password: 'x',
  })
  expect(again).toMatchObject({ status: 200, url: `${issuer}/dashboard/keys?x=1` })
  expect(await academy.database.all(sql`select hash from browser_sessions`)).toEqual(before)
})

test('signing out ends the session, not the cookie alone', async ({ academy, browser }) => {
  const cookie = browser.cookie()
  const page = await browser.submit(await browser.open('/dashboard/account'), {}, 'Sign out')
  expect(page).toMatchObject({ url: `${issuer}/dashboard`, text: expect.stringContaining('Sign in') })
  const kept = await academy.bearer(undefined).get('/dashboard', { cookie })
  expect(kept.text).toContain('<h1>Sign in</h1>')
})

test.for([
  ['suspended', sql`update users set status = 'suspended'`],
  ['deleted', sql`update users set status = 'deleted'`],
] as const)('who is %s is signed out', async ([, change], { academy, browser }) => {
  await academy.database.run(change)
  expect((await browser.open('/dashboard')).text).toContain('Sign in')
})

test('a former admin can no longer open an admin’s pages', async ({ academy, admin, browser }) => {
  expect((await browser.open('/dashboard/apps')).status).toBe(200)
  await academy.database.run(sql`update users set role = 'analyst' where id = ${admin.id}`)
  expect((await browser.open('/dashboard/apps')).status).toBe(403)
})

test('the log names who it was, and nothing secret', async ({ academy, admin, browser }) => {
  await sendForm(browser, '/dashboard/keys', { once, name: 'x', scopes: 'read' })
  expect(academy.logged.at(-1)).toMatchObject({
    method: 'POST',
    path: '/dashboard/keys',
    status: 200,
    userId: admin.id,
    credential: 'browser',
  })
  const logged = JSON.stringify(academy.logged)
  for (const secret of [...browser.cookies.values(), password]) expect(logged).not.toContain(secret)
})

test('behind a public address with a path, every link stays below it', { tags: ['slow'] }, async () => {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  const publicUrl = 'https://school.example/academy/'
  const server = await startServer(join(path, 'a.db'), { publicUrl })
  onTestFinished(() => server.stop())
  const { id, email } = await (await server.fetch('/v1/user/profile')).json()
  const json = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  await server.fetch(`/v1/users/${id}`, { method: 'PUT', headers: json, body: JSON.stringify({ password }) })
  await server.fetch('/v1/courses', { method: 'POST', headers: json, body: '{"title":"Logic"}' })
  // Like a proxy: responds at the public URL and removes its path.
  const proxy = (request: Request) => {
    const { pathname, search } = new URL(request.url)
    expect(pathname).toMatch(/^\/academy\//)
    return fetch(server.address + pathname.slice('/academy'.length) + search, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      ...(request.body && { body: request.body, duplex: 'half' }),
    })
  }
  const browser = plainBrowser(proxy, 'https://school.example')
  const overview = await browser.signIn(await browser.open('/academy/'), email, password)
  expect(overview).toMatchObject({ status: 200, url: 'https://school.example/academy/dashboard' })
  const page = await browser.submit(
    await browser.open('/academy/dashboard/keys'),
    { name: 'x' },
    'Create key',
  )
  expect(page.text).toContain('Copy the key now')
  const list = await browser.open('/academy/dashboard/keys')
  for (const { html } of [overview, page, list]) {
    const places = [...html.matchAll(/(?:href|action)="([^"#]+)"/g)].map(([, place]) => place)
    expect(places.length).toBeGreaterThan(5)
    expect(places.filter((place) => !place?.startsWith('/academy/dashboard'))).toEqual([])
  }
  const done = await browser.submit(overview, {}, 'Sign out')
  expect(done.url).toBe('https://school.example/academy/dashboard')
  expect([...browser.cookies.keys()]).toEqual(['__Host-learnctl_session'])
})
