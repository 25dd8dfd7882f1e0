import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { programOnPath } from '../helpers/process.ts'
import { test as base } from '../server/socket/served.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Path of the browser: `LEARNCTL_CHROMIUM`, or the first one on the PATH; undefined without one. */
export const chromiumPath = process.env['LEARNCTL_CHROMIUM'] || programOnPath(...names)

// Where the browser tests are required, a missing browser is a failure.
if (chromiumPath === undefined && process.env['LEARNCTL_BROWSER_TESTS'] === 'required') {
  throw new Error(`the browser tests are required, and none of ${names.join(', ')} is on the PATH`)
}

// Keep the browser from looking things up outside this machine.
const quiet = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

/** Saves a screenshot of the page if `LEARNCTL_SCREENSHOTS` names a directory. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env['LEARNCTL_SCREENSHOTS']
  if (!directory) return
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true })
}

/** Rules that axe checks, and the colour scheme. */
interface Look {
  readonly colorScheme: 'light' | 'dark'
  /** Tags of its rules. */
  readonly rules: string[]
}

/** All of WCAG 2.2, levels A and AA, in light colours. */
export const allRules: Look = {
  colorScheme: 'light',
  rules: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}

/** Rules about colours, in dark colours. */
const inTheDark: Look = { colorScheme: 'dark', rules: ['cat.color'] }

/** Rules about layout: the size of controls, and tables. */
export const layoutRules: Look = { colorScheme: 'dark', rules: ['cat.color', 'cat.tables', 'wcag22aa'] }

/** Returns the accessibility problems that axe finds on the page. */
export async function findBarriers(
  page: Page,
  looks: readonly Look[] = [allRules, inTheDark],
): Promise<string[]> {
  // Passed as text, because the page allows no scripts; once for each page, because it is long.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const found: string[] = []
  for (const { colorScheme, rules } of looks) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate(
      // The script above defined it.
      (only) =>
        (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
          runOnly: only,
          resultTypes: ['violations'],
        }),
      rules,
    )
    found.push(
      ...violations.map(({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map(({ html }) => html)}`),
    )
  }
  return found
}

/** Fails the test if a page reports a problem, such as blocked or missing content. */
function watch(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    // The status of a refused page is no problem.
    const refused =
      message.location().url === page.url() && message.text().includes('responded with a status')
    if (/^(error|warning)$/.test(message.type()) && !refused) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
}

/** A vitest test with a real browser, and a served academy for tests that name it. */
export const test = base
  .extend('executablePath', { scope: 'file' }, chromiumPath ?? '')
  .extend('browser', { scope: 'file' }, async ({ executablePath }, { onCleanup }): Promise<Browser> => {
    const browser = await chromium.launch({ executablePath, args: quiet })
    onCleanup(() => browser.close())
    return browser
  })
  .extend('complaints', (): string[] => [])
  .extend('context', async ({ browser }, { onCleanup }): Promise<BrowserContext> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    onCleanup(() => context.close())
    return context
  })
  .extend('page', async ({ context, complaints }): Promise<Page> => {
    const page = await context.newPage()
    // For a busy machine.
    page.setDefaultTimeout(60_000)
    watch(page, complaints)
    return page
  })
