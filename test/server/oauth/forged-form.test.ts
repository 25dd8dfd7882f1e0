import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { authorizePath, issuer, openFlow, test } from './flow.ts'

type Header = Readonly<Record<string, string>>

const forged: readonly (readonly [string, Header, string | null])[] = [
  ['without the token of the page', { origin: issuer }, null],
  ['with a token that is wrong', { origin: issuer }, 'a'.repeat(43)],
  ['from another site', { origin: 'https://evil.test' }, 'right'],
  ['from a sandbox, whose Origin is null', { origin: 'null' }, 'right'],
  ['from another port of this host', { origin: `${issuer}:8080` }, 'right'],
  ['from this host by another scheme', { origin: 'https://localhost' }, 'right'],
  ['from another site, as a browser without Origin tells it', { 'sec-fetch-site': 'cross-site' }, 'right'],
  ['from a site beside this one', { 'sec-fetch-site': 'same-site' }, 'right'],
]

for (const path of [authorizePath(), '/oauth/device']) {
  const name = new URL(path, issuer).pathname
  test.for(forged)(
    `a form to ${name} %s is refused`,
    async ([, headers, token], { academy, admin, flow }) => {
      const page = await flow.consent(admin)
      const csrf = token === 'right' ? page.forms[0]?.fields['csrf'] : token
      const fields = { action: 'allow', shown: 'read', ...(csrf && { csrf }) }
      const cookie = flow.browser.cookie()
      const type = { 'content-type': 'application/x-www-form-urlencoded', cookie }
      const answered = await academy
        .bearer(undefined)
        .send('POST', path, `${new URLSearchParams(fields)}`, { ...type, ...headers })
      expect(answered.status).toBe(403)
      expect(answered.headers.get('location')).toBeNull()
      expect(answered.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await academy.database.all(sql`select * from authorization_codes`)).toEqual([])
    },
  )
}

test('a form without Origin but with the token of the page is taken', async ({ academy, admin, flow }) => {
  const page = await flow.consent(admin)
  const cookie = flow.browser.cookie()
  const fields = new URLSearchParams({ ...page.forms[0]?.fields, action: 'allow' })
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    cookie,
    'sec-fetch-site': 'same-origin',
  }
  const answered = await academy.bearer(undefined).send('POST', authorizePath(), `${fields}`, headers)
  expect(answered.headers.get('location')).toContain('code=lpc_')
})

test('the token of one browser is none of another', async ({ academy, admin, flow, learner }) => {
  const other = await openFlow(academy).consent(learner)
  const page = await flow.consent(admin)
  const answered = await flow.browser.submit(page, { csrf: other.forms[0]?.fields['csrf'] ?? '' }, 'Allow')
  expect(answered).toMatchObject({ status: 403, leadsTo: null })
})

test('nor is the token from before signing in one of after', async ({ admin, flow }) => {
  const before = (await flow.authorize()).forms[0]?.fields['csrf'] ?? ''
  const page = await flow.consent(admin)
  expect(await flow.browser.submit(page, { csrf: before }, 'Allow')).toMatchObject({ status: 403 })
})

test('a form that is none is 415, one that is too long 413', async ({ academy, admin, flow }) => {
  await flow.consent(admin)
  const cookie = flow.browser.cookie()
  const send = (type: string, body: string) =>
    academy.bearer(undefined).send('POST', authorizePath(), body, { cookie, 'content-type': type })
  expect((await send('application/json', '{"action":"allow"}')).status).toBe(415)
  expect((await send('multipart/form-data; boundary=a', '--a--')).status).toBe(415)
  expect((await send('text/plain', 'action=allow')).status).toBe(415)
  expect((await send('application/x-www-form-urlencoded', 'a'.repeat(1024 * 1024 + 1))).status).toBe(413)
})
