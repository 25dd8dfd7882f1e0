import { type PlainBrowser, plainBrowser, type Shown } from '../helpers/browser.ts'
import { test as base } from '../server/socket/served.ts'

/** Redirect URI of the foreign clients; nothing listens there, because the browser of the tests does not follow it. */
export const callback = 'http://127.0.0.1:50123/callback'

const email = 'ada@school.example'
const password = 'correct horse battery'

/** A user with an account and a browser. */
export interface BrowsingPerson {
  readonly email: string
  /** Opens an authorization URL, signs in and presses this button; returns the target of the redirect. */
  answer(url: string | URL, button: 'Allow' | 'Deny'): Promise<URL>
  /** Opens the URL that a device shows, with its code, and presses this button. */
  answerDevice(url: string, button: 'Allow' | 'Deny'): Promise<Shown>
}

/** A vitest test with an instructor in front of a served academy whose clock stands still. */
export const test = base.extend('person', async ({ served }): Promise<BrowsingPerson> => {
  const headers = { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' }
  const user = { email, password, role: 'instructor' }
  await served.fetch('/v1/users', { method: 'POST', headers, body: JSON.stringify(user) })
  const browser = plainBrowser((request) => fetch(request), served.address)
  return {
    email,
    async answer(url, button) {
      const { leadsTo } = await browser.submit(await signedIn(browser, `${url}`), {}, button)
      return new URL(leadsTo ?? 'none:')
    },
    async answerDevice(url, button) {
      const page = await browser.submit(await signedIn(browser, url), {}, 'Continue')
      return browser.submit(page, {}, button)
    },
  }
})

async function signedIn(browser: PlainBrowser, url: string): Promise<Shown> {
  const page = await browser.open(url)
  const asks = page.forms.some(({ fields }) => 'password' in fields)
  return asks ? browser.signIn(page, email, password) : page
}
