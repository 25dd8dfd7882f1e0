import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { minute, stoppedClock } from '../helpers/academy.ts'
import { type TestCli, testCli } from '../helpers/cli.ts'
import { test as base, chromiumPath, findBarriers, saveScreenshot } from './chromium.ts'

const test = base
  .extend('clock', () => stoppedClock())
  .override('options', ({ clock }) => ({ firstPassword: true, now: clock.now }))
  .extend('cli', ({ page, clock }, { onCleanup }) => {
    const cli = testCli({
      env: { BROWSER: 'the one of this test' },
      openBrowser: async (url) => {
        await page.goto(url)
      },
      sleep: async (ms, signal) => {
        // Waits between polls are shortened and advance the clock; the wait for the user lasts as long as the browser
        // needs.
        const patient = ms > minute
        if (!patient) clock.advance(ms)
        await setTimeout(patient ? ms : 250, undefined, signal ? { signal } : {})
      },
    })
    onCleanup(() => cli.remove())
    return cli
  })

interface Person {
  readonly email: string
  readonly password: string
}

/** Fills in the sign-in page using only the keyboard. */
async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail address or username').focus()
  await page.keyboard.type(email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1 }).waitFor()
}

const wholeName = { exact: true }

/** Runs `auth login` while `act` uses the browser. */
async function login(cli: TestCli, url: string, person: () => Promise<void>, flags = '') {
  const running = cli.run(`auth login --url ${url} ${flags}`)
  await person()
  return running
}

describe.skipIf(chromiumPath === undefined)('signing in with a real browser', () => {
  test('leads from the terminal through sign-in and consent back to it', async ({
    served,
    cli,
    page,
    complaints,
  }) => {
    const admin = served.firstPassword!
    const ran = await login(cli, served.url, async () => {
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/oauth/authorize')
      await saveScreenshot(page, 'sign-in')
      expect(await findBarriers(page)).toEqual([])
      await signIn(page, admin)
      await page.getByText('Allow learnctl to act on your behalf?').waitFor()
      await page.waitForLoadState()
      expect(await page.locator('main').innerText()).toContain(admin.email)
      await saveScreenshot(page, 'consent')
      expect(await findBarriers(page)).toEqual([])
      await page.getByRole('button', { name: 'Allow', ...wholeName }).click()
      await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback/)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await saveScreenshot(page, 'signed-in')
      expect(await findBarriers(page)).toEqual([])
    })
    expect(ran).toMatchObject({ code: 0, stdout: '' })
    expect(ran.stderr).toContain(`Signed in to ${served.url} as ${admin.email}`)
    expect(await page.locator('body').innerText()).toMatch(/signed in/i)
    expect(await cli.run('courses list -o json')).toMatchObject({ code: 0, stdout: '[]\n' })
    expect(complaints).toEqual([])
  })

  test('of a device takes the code that the terminal shows', async ({ served, cli, page, complaints }) => {
    const aborted = new AbortController()
    const printed: string[] = []
    const running = cli.run(`auth login --device --no-browser --url ${served.url}`, {
      signal: aborted.signal,
      onStderr: (text) => printed.push(text),
    })
    await expect.poll(() => printed.at(-1)).toMatch(/[B-Z]{4}-[B-Z]{4}/)
    const code = /[B-Z]{4}-[B-Z]{4}/.exec(printed.at(-1) ?? '')?.[0] ?? ''
    await page.goto(`${served.url}/oauth/device`)
    await signIn(page, served.firstPassword!)
    await page.getByLabel('Code shown on the device').fill(code.toLowerCase().replace('-', ' '))
    await saveScreenshot(page, 'device-code')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Allow', ...wholeName }).waitFor()
    await page.waitForLoadState()
    expect(await page.locator('main').innerText()).toContain(code)
    await saveScreenshot(page, 'device-consent')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Allow', ...wholeName }).click()
    await page.getByText('You can close this page').waitFor()
    await saveScreenshot(page, 'device-connected')
    expect(await running).toMatchObject({ code: 0 })
    expect(complaints).toEqual([])
  })
})
