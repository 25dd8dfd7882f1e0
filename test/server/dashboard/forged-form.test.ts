import { expect } from 'vitest'
import { issuer } from '../oauth/flow.ts'
import { complete, csrfOf, fillPath, pathsOf, readChangeable, test, thingsOf } from './signed-in.ts'

const type = 'application/x-www-form-urlencoded'

/** Changes to a form compared with the one that this browser was shown. */
const forgeries: readonly (readonly [
  what: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, string>>,
])[] = [
  ['without the token', 403, { origin: issuer }, { csrf: '' }],
  ['with an unknown token', 403, { origin: issuer }, { csrf: 'A'.repeat(43) }],
  ['from another site', 403, { origin: 'https://evil.example' }, {}],
  ['from nowhere', 403, { origin: 'null' }, {}],
  ['from another port of this host', 403, { origin: 'http://localhost:8080' }, {}],
  ['from another site, by its fetch metadata', 403, { 'sec-fetch-site': 'cross-site' }, {}],
  ['as JSON', 415, { origin: issuer, 'content-type': 'application/json' }, {}],
]

test.for(forgeries)(
  'a form sent %s is refused everywhere, and does nothing',
  async ([, status, headers, fields], { academy, admin, browser }) => {
    const things = await thingsOf(academy, admin, admin)
    const csrf = await csrfOf(browser)
    const cookie = browser.cookie()
    const before = await readChangeable(academy)
    for (const path of pathsOf('POST')) {
      const body = new URLSearchParams({ csrf, ...complete[path], ...fields }).toString()
      const sent = { cookie, 'content-type': type, ...headers }
      const answer = await academy.bearer(undefined).send('POST', fillPath(path, things), body, sent)
      expect({ path, status: answer.status }).toEqual({ path, status })
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    }
    expect(await readChangeable(academy)).toEqual(before)
  },
)

test('the token of another is useless', { tags: ['slow'] }, async ({ academy, admin, analyst, signIn }) => {
  const things = await thingsOf(academy, admin, admin)
  const [own, others] = [await signIn(admin), await signIn(analyst)]
  const csrf = await csrfOf(others)
  const cookie = own.cookie()
  const before = await readChangeable(academy)
  for (const path of pathsOf('POST')) {
    const body = new URLSearchParams({ csrf, ...complete[path] }).toString()
    const sent = { cookie, 'content-type': type, origin: issuer }
    const { status } = await academy.bearer(undefined).send('POST', fillPath(path, things), body, sent)
    expect({ path, status }).toEqual({ path, status: 403 })
  }
  expect(await readChangeable(academy)).toEqual(before)
})

test('a credential of the API is none of the dashboard', async ({ academy, admin }) => {
  for (const path of ['/dashboard', '/dashboard/keys', '/dashboard/apps']) {
    const { text } = await admin.get(path)
    expect(text).toContain('<h1>Sign in</h1>')
  }
  expect((await academy.bearer(`Bearer ${admin.key}`).send('POST', '/dashboard/sign-out')).status).toBe(415)
})
