import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { reportDocument } from '../../src/report/report.tsx'
import { freshDirectory } from '../helpers/academy.ts'
import { courseFigures, figuresOf, weeksOf } from '../report/sample-figures.ts'
import { test as base, chromiumPath, findBarriers, saveScreenshot } from './chromium.ts'

const titles = ['Marine Biology', 'Astronomy', 'Statistics', 'علم الفلك', 'x'.repeat(500)]

/** A report of 100 courses as a file, shown in a browser that counts its requests. */
const test = base
  .extend('file', { scope: 'file' }, async ({ executablePath: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    onCleanup(remove)
    const courses = Array.from({ length: 100 }, (_, index) =>
      courseFigures(`${titles[index % titles.length]} ${index}`, index % 11, index % 16),
    )
    const activity = weeksOf(...Array.from({ length: 26 }, (_, week) => 900 + ((week * 37) % 500)))
    mkdirSync(path, { recursive: true })
    const file = join(path, 'report.html')
    writeFileSync(
      file,
      reportDocument(figuresOf(courses, { activity }), { language: 'en', title: 'Autumn term' }),
    )
    return pathToFileURL(file).href
  })
  .extend('requests', (): string[] => [])
  .extend('report', async ({ page, file, requests }): Promise<Page> => {
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(file)
    return page
  })

describe.skipIf(chromiumPath === undefined)('a report in a real browser', () => {
  test('requests nothing but itself, and complains about nothing', async ({
    report,
    file,
    requests,
    complaints,
  }) => {
    expect(await report.locator('h1').innerText()).toBe('Autumn term')
    expect(await report.locator('script, link, img, iframe').count()).toBe(0)
    expect(requests).toEqual([file])
    expect(complaints).toEqual([])
  })

  test.for([400, 1200])('has no barrier at %i px, and nothing that is wider', async (width, { report }) => {
    await report.setViewportSize({ width, height: 900 })
    await report.locator('summary').first().click()
    expect(await findBarriers(report)).toEqual([])
    expect(await report.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await saveScreenshot(report, `report-${width}`)
  })

  test('shows solid, hatched and empty parts without colours', async ({ report }) => {
    await report.emulateMedia({ forcedColors: 'active' })
    const fills = await report.evaluate(() =>
      ['.done', '.doing', '.bar'].map((part) => {
        const { fill, backgroundColor } = getComputedStyle(document.querySelector(part) ?? document.body)
        return part === '.bar' ? backgroundColor : fill
      }),
    )
    expect(new Set(fills).size).toBe(3)
    expect(fills[1]).toContain('#hatching')
    await saveScreenshot(report, 'report-forced-colors')
  })

  test('prints on few pages, tables unfolded, and no drawing is cut in two', async ({ report }) => {
    const pdf = await report.pdf({ format: 'A4' })
    const pages = pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
    expect(pages).toBeGreaterThan(3)
    expect(pages).toBeLessThan(15)
    await report.emulateMedia({ media: 'print' })
    const looks = await report.evaluate(() => ({
      tables: [...document.querySelectorAll('details table')].map(
        (table) => table.getBoundingClientRect().height > 50,
      ),
      drawings: [
        ...new Set(
          [...document.querySelectorAll('svg.columns, tr')].map((one) => getComputedStyle(one).breakInside),
        ),
      ],
    }))
    expect(looks.tables).toEqual([true, true, true])
    expect(looks.drawings).toEqual(['avoid'])
  })
})
