import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import { fromBufferPromise } from 'yauzl'
import { terms } from '../../../src/contract/terms.ts'
import type { SignedInRequest } from '../../../src/server/dashboard/call-api.ts'
import { workbookPage } from '../../../src/server/dashboard/table-file.tsx'
import type { TestAcademy } from '../../helpers/academy.ts'
import { decodeText, type PlainBrowser } from '../../helpers/browser.ts'
import { test } from './signed-in.ts'

/** Returns the rows of a downloaded CSV file. */
async function csvAt(browser: PlainBrowser, path: string): Promise<Record<string, string>[]> {
  const { status, headers, html } = await browser.open(path)
  expect(status, html).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  return parse(html, { columns: true, bom: true })
}

/** Returns the name of a downloaded workbook and the cells of its first sheet. */
async function workbookAt(academy: TestAcademy, browser: PlainBrowser, path: string) {
  const response = await academy.fetch(
    new Request(`http://localhost${path}`, { headers: { cookie: browser.cookie() } }),
  )
  expect(response.status).toBe(200)
  const rows = rowsOf(await textsIn(Buffer.from(await response.arrayBuffer())))
  return { name: response.headers.get('content-disposition'), rows }
}

/** Returns the cells of the first sheet of a workbook, by row and column. */
function rowsOf(entries: Record<string, string>): string[][] {
  const shared = [...(entries['xl/sharedStrings.xml'] ?? '').matchAll(/<si>.*?<\/si>/gs)].map(([item]) =>
    decodeText(item.replace(/<[^>]+>/g, '')),
  )
  const sheet = entries['xl/worksheets/sheet1.xml'] ?? ''
  return [...sheet.matchAll(/<row\b[^>]*>(.*?)<\/row>/gs)].map(([, row = '']) => {
    const cells: string[] = []
    for (const [, attributes = '', inner = ''] of row.matchAll(/<c\b([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)) {
      const value = /<v>(.*?)<\/v>/s.exec(inner)?.[1] ?? ''
      const [, letters = ''] = /r="([A-Z]+)/.exec(attributes) ?? []
      cells[columnOf(letters)] = /t="s"/.test(attributes) ? (shared[Number(value)] ?? '') : value
    }
    return cells
  })
}

/** Returns the index of a column by its letters: 0 for A, 26 for AA. */
function columnOf(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

async function textsIn(zip: Buffer): Promise<Record<string, string>> {
  const file = await fromBufferPromise(zip)
  const texts: Record<string, string> = {}
  for await (const entry of file.eachEntry()) {
    const chunks: Buffer[] = []
    for await (const chunk of await file.openReadStreamPromise(entry)) chunks.push(chunk as Buffer)
    texts[entry.fileName] = Buffer.concat(chunks).toString()
  }
  return texts
}

/** Returns the address of a page's file. */
function linkIn(html: string, format: 'csv' | 'xlsx'): string {
  return decodeText(new RegExp(`href="([^"]+\\.${format}[^"]*)"`).exec(html)?.[1] ?? '')
}

test('people are downloaded with the filter and order of their page, over many pages, guarded from formulas', {
  tags: ['slow'],
}, async ({ academy, admin, browser }) => {
  const items = Array.from({ length: 230 }, (_, index) => ({
    email: `p${String(index).padStart(3, '0')}@b.example`,
    externalId: String(index).padStart(5, '0'),
  }))
  await admin.post('/v1/users/batch', { items })
  const profile = { firstName: '=1+1', lastName: 'Zoë "Q", x' }
  await admin.put('/v1/users/email:p007@b.example', { profile })
  await admin.post('/v1/users', { email: 'other@c.example' })
  const page = await browser.open('/dashboard/people?q=b.example&sort=-email')
  const second = await browser.open(decodeText(/rel="next" href="([^"]+)"/.exec(page.html)?.[1] ?? ''))
  const wanted = items.map(({ email }) => email).toReversed()
  for (const { html } of [page, second]) {
    const link = linkIn(html, 'csv')
    expect(link).toBe('/dashboard/people.csv?q=b.example&sort=-email')
    const rows = await csvAt(browser, link)
    expect(rows.map(({ email }) => email)).toEqual(wanted)
    const guarded = rows.find(({ email }) => email === 'p007@b.example')
    expect(guarded).toMatchObject({ firstName: "'=1+1", lastName: 'Zoë "Q", x', externalId: '00007' })
  }
  const { name, rows } = await workbookAt(academy, browser, linkIn(page.html, 'xlsx'))
  expect(name).toBe('attachment; filename="people.xlsx"')
  const [header = [], ...people] = rows
  const at = (column: string) => people.map((row) => row[header.indexOf(column)])
  expect(at('email')).toEqual(wanted)
  expect(at('externalId')[222]).toBe('00007')
  expect(at('firstName')[222]).toBe('=1+1')
})

test('a workbook has the first rows of too many, and its name says so', { tags: ['slow'] }, async () => {
  async function* batches(rows: number) {
    for (let from = 0; from < rows; from += 1000) {
      yield Array.from({ length: Math.min(1000, rows - from) }, (_, index) => ({ id: `trm_${from + index}` }))
    }
  }
  // Of a request, a workbook needs no more than this.
  const signedIn = { visitor: { headers: {} }, request: { raw: {} } } as unknown as SignedInRequest
  for (const [rows, name, first] of [
    [20_000, 'terms', 'trm_0'],
    [20_001, 'terms_first_20000', 'trm_0'],
  ] as const) {
    const page = workbookPage({
      path: '/dashboard/terms',
      operation: terms.list,
      rows: async () => ({ name: 'terms', batches: batches(rows) }),
    })
    const { headers, body } = await page.show(signedIn)
    expect(headers['content-disposition']).toBe(`attachment; filename="${name}.xlsx"`)
    const chunks: Uint8Array[] = []
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
    const sheet = rowsOf(await textsIn(Buffer.concat(chunks)))
    expect([sheet.length, sheet[1]?.[0], sheet.at(-1)?.[0]]).toEqual([20_001, first, 'trm_19999'])
  }
})

test('each table has its rows in both formats', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const ids: string[] = []
  for (const externalId of ['T-1', 'T-2']) {
    const course = { title: 'Twins', status: 'published', externalId }
    ids.push((await admin.post('/v1/courses', course)).body.id)
  }
  const [courseId = ''] = ids
  await admin.post('/v1/lessons', {
    courseId,
    title: 'Proofs',
    dueAt: '2026-04-01T16:00:00Z',
    contentBlocks: [{ type: 'text', body: 'x'.repeat(40_000) }],
  })
  const learner = (await admin.post('/v1/users', { email: 'ada@b.example' })).body
  for (const percentage of [10, 60]) {
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage: percentage })
  }
  await academy.grade({ learnerId: learner.id, courseId, scoreGiven: 75, itemId: 'exam' })
  const course = `/dashboard/courses/${courseId}`
  const person = `/dashboard/learners/${learner.id}`
  const expected: Readonly<Record<string, readonly [file: string, ...rows: Record<string, string>[]]>> = {
    '/dashboard/courses?q=T-1': ['/dashboard/courses', { title: 'Twins', externalId: 'T-1' }],
    [`${course}/lessons`]: [`${course}/lessons`, { title: 'Proofs', dueAt: '2026-04-01T16:00:00.000Z' }],
    [course]: [`${course}/learners`, { email: 'ada@b.example', completionPercentage: '60' }],
    [`${course}/grades`]: [`${course}/grades`, { itemId: 'exam', scoreGiven: '75' }],
    [person]: [`${person}/courses`, { courseExternalId: 'T-1', completionPercentage: '60' }],
    [`${person}/grades`]: [`${person}/grades`, { itemId: 'exam', scoreGiven: '75' }],
    [`${person}/history`]: [
      `${person}/history`,
      { completionPercentage: '10', version: '1' },
      { completionPercentage: '60', version: '2' },
    ],
  }
  for (const [path, [file, ...rows]] of Object.entries(expected)) {
    const { html } = await browser.open(path)
    expect(linkIn(html, 'csv').replace(/\?.*/, ''), path).toBe(`${file}.csv`)
    expect(await csvAt(browser, linkIn(html, 'csv')), path).toMatchObject(rows)
    const sheet = await workbookAt(academy, browser, linkIn(html, 'xlsx'))
    const [header = [], ...cells] = sheet.rows
    const isTime = (column: string) => column.endsWith('At')
    for (const [index, row] of rows.entries()) {
      for (const [column, value] of Object.entries(row).filter(([column]) => !isTime(column))) {
        expect(cells[index]?.[header.indexOf(column)], `${path} ${column}`).toBe(value)
      }
    }
    expect(cells, path).toHaveLength(rows.length)
  }
  const lessons = await csvAt(browser, `${course}/lessons.csv`)
  expect(Object.keys(lessons[0] ?? {})).not.toContain('contentBlocks')
})

test('files have the rows that the user may see', async ({ admin, instructor, learner, signIn }) => {
  const { id } = (await admin.post('/v1/courses', { title: 'Foreign', status: 'published' })).body
  await admin.post('/v1/enrollments', { courseId: id, userId: learner.id })
  const browser = await signIn(instructor)
  expect((await csvAt(browser, '/dashboard/people.csv')).map(({ email }) => email)).toEqual([
    instructor.email,
  ])
  expect(await csvAt(browser, '/dashboard/courses.csv')).toEqual([])
  const wrong = await browser.open('/dashboard/people.csv?role=king')
  expect([wrong.status, wrong.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
  const own = await csvAt(await signIn(learner), '/dashboard/courses.csv')
  expect(own.map(({ title }) => title)).toEqual(['Foreign'])
})

test('lists with secrets are downloaded without', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  const { body: endpoint } = await admin.post('/v1/webhooks/endpoints', {
    url: 'https://hooks.example/learning',
    events: ['*'],
    description: '=1+1',
  })
  const { body: calendar } = await admin.post('/v1/calendars', { courseId: course.id })
  const webhookSecret = 'a-secret-of-more-than-24-characters'
  const connected = await admin.put('/v1/integrations/moodle', {
    baseUrl: 'https://moodle.example',
    webhookSecrets: [webhookSecret],
  })
  expect(connected.body).toMatchObject({ lmsKind: 'moodle' })
  const rows = async (name: string) => {
    const { html } = await browser.open(`/dashboard/${name}`)
    expect((await workbookAt(academy, browser, linkIn(html, 'xlsx'))).rows.length).toBeGreaterThan(1)
    return csvAt(browser, linkIn(html, 'csv'))
  }
  expect(await rows('endpoints')).toMatchObject([
    { url: 'https://hooks.example/learning', description: "'=1+1", kind: 'standard' },
  ])
  expect(await rows('integrations')).toMatchObject([{ lmsKind: 'moodle', baseUrl: 'https://moodle.example' }])
  expect(await rows('calendars')).toMatchObject([{ courseTitle: 'Logic' }])
  const texts = JSON.stringify([await rows('endpoints'), await rows('integrations'), await rows('calendars')])
  for (const secret of [endpoint.secret, calendar.secretPath, webhookSecret]) {
    expect(secret).toBeTypeOf('string')
    expect(texts).not.toContain(secret)
  }
  await admin.post('/v1/keys', { name: 'nightly', scopes: ['read'] })
  expect(await rows('keys')).toContainEqual(expect.objectContaining({ name: 'nightly' }))
})
