import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { programOnPath } from '../helpers/process.ts'
import { test as base } from '../server/socket/served.ts'

/** A browser takes its time on a busy machine, in milliseconds. */
export const timeout = 30_000

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The browser of this machine: `LEARNCTL_CHROMIUM`, or the first one on the PATH; undefined where there is none. */
export const chromiumPath = process.env['LEARNCTL_CHROMIUM'] || programOnPath(...names)

// Where the browser is part of what has to hold, a machine without one is a failure and not a reason to skip.
if (chromiumPath === undefined && process.env['LEARNCTL_BROWSER_TESTS'] === 'required') {
  throw new Error(`the browser tests are required, and none of ${names.join(', ')} is on the PATH`)
}

// What a browser looks up on its own would leave this machine.
const quiet = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

/** Keeps a picture of the page where `LEARNCTL_SCREENSHOTS` names a directory. */
export async function picture(page: Page, name: string): Promise<void> {
  const directory = process.env['LEARNCTL_SCREENSHOTS']
  if (!directory) return
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true })
}

/** What axe looks at, and in which colours. */
interface Look {
  readonly colorScheme: 'light' | 'dark'
  /** The tags of its rules. */
  readonly rules: string[]
}

/** Everything of WCAG 2.2, levels A and AA, in light colours. */
export const everything: Look = {
  colorScheme: 'light',
  rules: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}

/** What colours alone decide, in dark ones. */
const inTheDark: Look = { colorScheme: 'dark', rules: ['cat.color'] }

/** What else another layout of the same page decides: the size of what is pressed, and what tables are. */
export const layout: Look = { colorScheme: 'dark', rules: ['cat.color', 'cat.tables', 'wcag22aa'] }

/** What axe finds wrong with the page for those who do not see it as it is drawn. */
export async function barriers(
  page: Page,
  looks: readonly Look[] = [everything, inTheDark],
): Promise<string[]> {
  // Handed over as text, because the page lets no script in; once for each page, as it is long.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const found: string[] = []
  for (const { colorScheme, rules } of looks) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate(
      // The text above has put it there.
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

/** Fails the test on anything that a page complains about: what its policy blocks, what it cannot load. */
function watch(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    // That a page was refused is what it says itself.
    const refused =
      message.location().url === page.url() && message.text().includes('responded with a status')
    if (/^(error|warning)$/.test(message.type()) && !refused) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
}

/** A vitest test with a real browser, and a served academy for those who name it. */
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
    page.setDefaultTimeout(10_000)
    watch(page, complaints)
    return page
  })
