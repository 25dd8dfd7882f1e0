import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { authorizePath, issuer, test } from './flow.ts'

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

test('nor is the token from before signing in one of after', async ({ admin, flow }) => {
  const before = (await flow.authorize()).forms[0]?.fields['csrf'] ?? ''
  const page = await flow.consent(admin)
  expect(await flow.browser.submit(page, { csrf: before }, 'Allow')).toMatchObject({ status: 403 })
})
