import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { barriers, test as base, chromiumPath, picture, timeout } from './chromium.ts'

const title = 'Logic <b>& "rhetoric"</b>'

/** An academy with a course, a learner in it, and its admin signed in at the dashboard. */
const test = base
  .override('options', { firstPassword: true })
  .extend('courseId', async ({ served }): Promise<string> => {
    const post = async (path: string, method: string, body: object) => {
      const answer = await served.fetch(path, {
        method,
        headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(answer.ok).toBe(true)
      return answer.json()
    }
    const { id } = await post('/v1/courses', 'POST', { title, status: 'published' })
    for (const [name, completionPercentage] of [
      ['Ada', 100],
      ['Grace', 40],
    ] as const) {
      const email = `${name.toLowerCase()}@school.example`
      const learner = await post('/v1/users', 'POST', { email, profile: { firstName: name } })
      await post(`/v1/learners/${learner.id}/progress`, 'PUT', { courseId: id, completionPercentage })
    }
    return id
  })
  .extend('dashboard', async ({ served, page, courseId: _ }): Promise<Page> => {
    const { email, password } = served.firstPassword!
    await page.goto(`${served.url}/dashboard`)
    await page.getByLabel('E-mail address or username').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    return page
  })

const section = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name })

describe.skipIf(chromiumPath === undefined)('the dashboard in a real browser', { timeout }, () => {
  test('shows courses and the learners of one', async ({ dashboard, complaints }) => {
    await picture(dashboard, 'overview')
    expect(await dashboard.getByRole('img', { name: /completion/i }).count()).toBe(1)
    await dashboard.getByRole('link', { name: title }).click()
    await dashboard.getByRole('heading', { level: 1, name: title }).waitFor()
    const rows = await dashboard.getByRole('row').allInnerTexts()
    expect(rows.find((row) => row.includes('Ada'))).toMatch(/100/)
    expect(rows.find((row) => row.includes('Grace'))).toMatch(/40/)
    await picture(dashboard, 'course')
    expect(complaints).toEqual([])
  })

  test('makes a key that works until it is revoked, and shows it once', async ({
    served,
    dashboard,
    complaints,
  }) => {
    await section(dashboard, 'API keys').click()
    await dashboard.getByLabel('Name').fill('laptop')
    await dashboard.getByRole('button', { name: 'Create the key' }).click()
    const key = await dashboard.locator('code').filter({ hasText: 'lpk_' }).innerText()
    await picture(dashboard, 'new-key')
    const status = async () =>
      (await fetch(`${served.url}/v1/courses`, { headers: { authorization: `Bearer ${key}` } })).status
    expect(await status()).toBe(200)
    expect(dashboard.url()).not.toContain(key)

    await dashboard.reload()
    expect(await dashboard.content()).not.toContain(key)
    await section(dashboard, 'API keys').click()
    expect(await dashboard.getByRole('row').filter({ hasText: 'laptop' }).count()).toBe(1)
    await picture(dashboard, 'keys')
    await dashboard
      .getByRole('row')
      .filter({ hasText: 'laptop' })
      .getByRole('link', { name: /^Revoke/ })
      .click()
    await picture(dashboard, 'revoke-key')
    await dashboard.getByRole('button', { name: 'Revoke the key' }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    expect(await status()).toBe(401)
    expect(complaints).toEqual([])
  })

  test('registers an application with its redirect URI, and deletes it', async ({
    dashboard,
    complaints,
  }) => {
    await section(dashboard, 'Applications').click()
    await dashboard.getByLabel('Name').fill('Reports')
    await dashboard.getByLabel('Redirect URIs').fill('https://reports.example/callback')
    await dashboard.getByRole('button', { name: 'Register it' }).click()
    await dashboard.locator('code').filter({ hasText: 'lps_' }).waitFor()
    await picture(dashboard, 'new-application')
    await section(dashboard, 'Applications').click()
    await picture(dashboard, 'applications')
    await dashboard.getByRole('link', { name: /^Delete/ }).click()
    await dashboard.getByRole('button', { name: /^Delete/ }).click()
    await dashboard.getByRole('heading', { level: 1, name: /applications$/i }).waitFor()
    expect(await dashboard.locator('main').innerText()).not.toContain('Reports')
    expect(complaints).toEqual([])
  })

  test('changes a password, which signs out everywhere', async ({ served, dashboard, complaints }) => {
    const { password } = served.firstPassword!
    await section(dashboard, 'Account').click()
    await picture(dashboard, 'account')
    const wanted = 'another password, longer'
    for (const [index, text] of [password, wanted, wanted].entries()) {
      await dashboard.locator('input[type=password]').nth(index).fill(text)
    }
    await dashboard.getByRole('button', { name: 'Change the password' }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await dashboard.getByLabel('E-mail address or username').fill(served.firstPassword!.email)
    await dashboard.getByLabel('Password').fill(wanted)
    await dashboard.getByRole('button', { name: 'Sign in' }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    await dashboard.getByRole('button', { name: 'Sign out' }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    expect(complaints).toEqual([])
  })

  test.for(['light', 'dark'] as const)(
    'has no barrier on any page, %s',
    async (colorScheme, { served, dashboard, courseId }) => {
      await dashboard.emulateMedia({ colorScheme })
      for (const path of ['', `/courses/${courseId}`, '/keys', '/apps', '/account', '/nothing']) {
        await dashboard.goto(`${served.url}/dashboard${path}`)
        expect({ path, found: await barriers(dashboard) }).toEqual({ path, found: [] })
      }
      await dashboard.getByRole('button', { name: 'Sign out' }).click()
      await dashboard.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      expect(await barriers(dashboard)).toEqual([])
    },
  )

  test('fits a telephone, on every page', async ({ served, dashboard, courseId }) => {
    await dashboard.setViewportSize({ width: 390, height: 844 })
    for (const path of ['', `/courses/${courseId}`, '/keys', '/apps', '/account']) {
      await dashboard.goto(`${served.url}/dashboard${path}`)
      const { wide, seen } = await dashboard.evaluate(() => ({
        wide: document.documentElement.scrollWidth,
        seen: document.documentElement.clientWidth,
      }))
      expect({ path, wide }).toEqual({ path, wide: seen })
      await picture(dashboard, `narrow${path.replaceAll('/', '-').replace(courseId, 'one')}`)
    }
  })

  test('is reached by keyboard alone: the first stop leads to the content', async ({ dashboard }) => {
    await dashboard.keyboard.press('Tab')
    const first = dashboard.locator(':focus')
    expect(await first.innerText()).toMatch(/skip/i)
    await dashboard.keyboard.press('Enter')
    await dashboard.keyboard.press('Tab')
    expect(await dashboard.locator('main :focus').count()).toBe(1)
  })

  test('needs no script', async ({ browser, served }) => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    const { email, password } = served.firstPassword!
    await page.goto(`${served.url}/dashboard/keys`)
    await page.getByLabel('E-mail address or username').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Name').fill('without script')
    await page.getByRole('button', { name: 'Create the key' }).click()
    expect(await page.locator('code').filter({ hasText: 'lpk_' }).count()).toBe(1)
    await context.close()
  })
})
