import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { linkEntries } from '../../../src/server/changes/audit-chain.ts'
import type { Person, TestAcademy } from '../../helpers/academy.ts'
import { decodeText } from '../../helpers/browser.ts'
import { test as base } from './signed-in.ts'

const test = base
  .extend('browser', async ({ admin, signIn }) => signIn(admin))
  .extend('courseId', async ({ admin }) => {
    const { id } = (await admin.post('/v1/courses', { title: 'Logic' })).body
    await admin.put(`/v1/courses/${id}`, { title: 'Rhetoric', description: 'About\u202e speech' })
    return id as string
  })

/** Links the entries that an engine with many writers links later. */
async function linked({ database }: TestAcademy): Promise<void> {
  await database.write((transaction) => linkEntries(transaction))
}

/** Returns the actions that a page lists, in order. */
function actionsIn(html: string): string[] {
  return [...html.matchAll(/<a href="\/dashboard\/audit\/aud_\w+">([^<]+)<\/a>/g)].map(
    ([, action = '']) => action,
  )
}

test('entries are listed with their subject, who it was and from where, the newest first', async ({
  admin,
  browser,
  courseId,
}) => {
  const { html, text } = await browser.open(`/dashboard/audit?subject=${courseId}`)
  expect(actionsIn(html)).toEqual(['course.updated', 'course.created'])
  expect(text).toMatch(
    new RegExp(`course\\.updated 1 Mar 2026, 12:00 UTC 192\\.0\\.2\\.1 Rhetoric ${admin.email} key_\\w+`),
  )
})

test('an entry shows each field before and after', async ({ academy, browser, courseId }) => {
  await linked(academy)
  const list = await browser.open(`/dashboard/audit?subject=${courseId}`)
  const [, link = ''] = /<a href="(\/dashboard\/audit\/aud_\w+)">course\.updated/.exec(list.html) ?? []
  const { html, text } = await browser.open(link)
  expect(text).toMatch(/Field Before After .*title Logic Rhetoric/)
  expect(text).toContain('description Empty About\\u202e speech')
  expect(html).not.toContain('\u202e')
  expect(text).toMatch(/Place in the chain \d+ Hash [0-9a-f]{64}/)
})

test('the form filters by user, action, noun and day, and keeps what was filled in', {
  tags: ['slow'],
}, async ({ admin, browser, courseId, learner }) => {
  await admin.put('/v1/user/profile', { profile: { firstName: 'Ada' } })
  const page = await browser.open('/dashboard/audit')
  const found = async (fields: Readonly<Record<string, string>>) =>
    actionsIn((await browser.submit(page, fields, 'Filter')).html)
  expect(await found({ action: 'course.created' })).toEqual(['course.created'])
  expect(await found({ action: 'course', subject: courseId })).toEqual(['course.updated', 'course.created'])
  expect(await found({ user: learner.email })).toEqual([])
  expect(await found({ user: admin.email, action: 'course' })).toHaveLength(2)
  expect(await found({ subject: courseId, from: '2026-03-01', to: '2026-03-01' })).toHaveLength(2)
  expect(await found({ subject: courseId, to: '2026-02-28' })).toEqual([])
  const filtered = await browser.submit(page, { action: 'course.created', user: admin.email }, 'Filter')
  expect(filtered.html).toContain('<option value="course.created" selected="">')
  expect(filtered.html).toContain(`value="${admin.email}"`)
  expect(filtered.html).toContain('<a href="/dashboard/audit">Clear</a>')
})

test('an entry links to its subject while that exists, and to similar entries', { tags: ['slow'] }, async ({
  admin,
  browser,
  courseId,
}) => {
  const list = await browser.open(`/dashboard/audit?subject=${courseId}`)
  const [, link = ''] = /<a href="(\/dashboard\/audit\/aud_\w+)">course\.updated/.exec(list.html) ?? []
  const there = `<a href="/dashboard/courses/${courseId}">`
  const entry = await browser.open(link)
  expect(entry.html).toContain(`${there}Rhetoric</a>`)
  const others = [...entry.html.matchAll(/<a href="([^"]+)">All entries [^<]+<\/a>/g)].map(
    ([, href = '']) => href,
  )
  expect(others).toHaveLength(3)
  for (const href of others) {
    expect(actionsIn((await browser.open(href)).html), href).toContain('course.updated')
  }
  const credential = others.find((href) => href.includes('credential=')) ?? ''
  expect((await browser.open(`${credential}x`)).text).toContain('No entries match.')
  await admin.delete(`/v1/courses/${courseId}`)
  expect((await browser.open(link)).html).not.toContain(there)
})

test('an invalid filter is reported above the form', async ({ browser }) => {
  for (const wrong of ['action=course.eaten', 'from=yesterday']) {
    const page = await browser.open(`/dashboard/audit?${wrong}`)
    expect({ wrong, status: page.status }).toEqual({ wrong, status: 400 })
    expect(page.html).toContain('role="alert"')
    expect(page.text).toContain('No entries match.')
  }
})

test('the chain says how many entries are linked, and how many wait', { tags: ['slow'] }, async ({
  academy,
  browser,
  courseId,
}) => {
  expect(courseId).toMatch(/^crs_/)
  await linked(academy)
  const last = await academy.database.one<{ place: number; hash: string }>(
    sql`select place, hash from audit_entries where place > 0 order by place desc limit 1`,
  )
  const { text } = await browser.open('/dashboard/audit')
  expect(text).toContain(`Linked entries ${last?.place} Last hash ${last?.hash}`)
  await academy.database.run(sql`
    update audit_entries set place = -7, hash = null where place = ${last?.place}`)
  expect((await browser.open('/dashboard/audit')).text).toMatch(/Waiting to be linked 1 Last hash/)
})

test('entries about an erased user have no details', { tags: ['slow'] }, async ({ admin, browser }) => {
  const { body } = await admin.post('/v1/users', { email: 'gone@b.example' })
  await admin.delete(`/v1/users/${body.id}?erase=true`)
  const list = await browser.open(`/dashboard/audit?subject=${body.id}&action=user.created`)
  const [, link = ''] = /<a href="(\/dashboard\/audit\/aud_\w+)">/.exec(list.html) ?? []
  const { text } = await browser.open(link)
  expect(text).toContain('The details were erased with the user whom they concern.')
  expect(`${list.text}${text}`).not.toContain('gone@b.example')
})

test('its filters are folded, and open where they are used', async ({ admin, signIn }) => {
  const browser = await signIn(admin)
  const fold = async (search: string) =>
    /<details class="fold"[^>]*>/.exec((await browser.open(`/dashboard/audit${search}`)).html)?.[0]
  expect(await fold('')).toBe('<details class="fold">')
  expect(await fold('?action=user')).toMatch(/ open/)
  expect(await fold('?from=nonsense')).toMatch(/ open/)
})

/** Returns the rows of the table of entries as text. */
function rowsIn(html: string): string[] {
  const [, body = ''] = /<tbody[^>]*>(.*?)<\/tbody>/s.exec(html) ?? []
  return [...body.matchAll(/<tr\b.*?<\/tr>/gs)].map(([row]) =>
    decodeText(row.replace(/<[^>]*>/g, ' '))
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

/** Returns the URL of the first link with this text; empty without one. */
function linkTo(html: string, words: string): string {
  const links = [...html.matchAll(/<a\b[^>]*\bhref="([^"]+)"[^>]*>([^<]+)<\/a>/g)]
  return decodeText(links.find(([, , text = '']) => text.trim().startsWith(words))?.[1] ?? '')
}

const usersOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => ({ email: `${name}${index}@b.example` }))

async function importUsers(admin: Person, items: readonly object[]): Promise<void> {
  const { body } = await admin.post('/v1/users/batch', { items, onExists: 'update' })
  expect(body.results.every(({ status }: { status: number }) => status < 300)).toBe(true)
}

test('an import is one row that opens, with a way to its entries', async ({ academy, admin, browser }) => {
  await importUsers(admin, usersOf(30, 'a'))
  academy.clock.advance(9_000)
  await importUsers(admin, usersOf(30, 'b'))
  const page = await browser.open('/dashboard/audit')
  const [row] = rowsIn(page.html)
  expect(row).toMatch(
    /^Created 60 users 1 Mar 2026, 12:00:00 – 12:00:09 UTC 192\.0\.2\.1 60 entries b29@b\.example /,
  )
  expect(row).toMatch(new RegExp(`b20@b\\.example List all 60 entries ${admin.email} key_`))
  const first = await browser.open(linkTo(page.html, 'List all 60'))
  expect(actionsIn(first.html)).toEqual(Array(25).fill('user.created'))
  const second = await browser.open(linkTo(first.html, 'Next page'))
  const third = await browser.open(linkTo(second.html, 'Next page'))
  expect(actionsIn(third.html)).toEqual(Array(10).fill('user.created'))
  expect(third.text).toContain('Last page')
  // The form keeps the period of the run, and the list of single entries.
  expect(actionsIn((await browser.submit(first, {}, 'Filter')).html)).toHaveLength(25)
  expect(rowsIn((await browser.open(linkTo(first.html, 'Combine'))).html)).toHaveLength(1)
})

test('an import that creates and updates by turns is one row, with both counted', async ({
  academy,
  admin,
  browser,
}) => {
  await importUsers(admin, usersOf(6, 'a'))
  academy.clock.advance(61_000)
  const rows = usersOf(12, 'a').map((user) => ({ ...user, profile: { firstName: 'Ada' } }))
  // Separate requests, as for courses.
  for (const index of [0, 6, 1, 7, 2, 8]) await importUsers(admin, rows.slice(index, index + 1))
  const { html } = await browser.open('/dashboard/audit?action=user')
  expect(rowsIn(html).slice(0, 2)).toEqual([
    expect.stringMatching(/^Updated 3 users, created 3 users .* 6 entries a8@b\.example user\.created /),
    expect.stringMatching(/^Created 6 users .* 6 entries a5@b\.example a4@b\.example /),
  ])
})

test('entries of one request are one row, whatever their actions', async ({ admin, browser, courseId }) => {
  await admin.put(`/v1/courses/${courseId}`, { status: 'published' })
  await importUsers(admin, usersOf(3, 'a'))
  const items = usersOf(3, 'a').map(({ email }) => ({
    learnerId: `email:${email}`,
    courseId,
    completionPercentage: 100,
  }))
  expect((await admin.post('/v1/progress/batch', { items })).status).toBe(200)
  expect(rowsIn((await browser.open('/dashboard/audit')).html)).toContainEqual(
    expect.stringMatching(/^Created 3 enrolments, completed 3 enrolments .* 6 entries /),
  )
})

test('entries far apart, of others or about one subject are listed by themselves', async ({
  academy,
  admin,
  browser,
}) => {
  const courses = async (by: Person, count: number) => {
    for (let index = 0; index < count; index += 1) await by.post('/v1/courses', { title: `Course ${index}` })
  }
  const found = async (search = '') =>
    rowsIn((await browser.open(`/dashboard/audit?action=course${search}`)).html)
  await courses(admin, 2)
  academy.clock.advance(61_000)
  await courses(admin, 2)
  const other = await academy.person('admin')
  await courses(other, 2)
  expect(await found()).toHaveLength(6)
  await courses(other, 1)
  expect(await found()).toEqual([
    expect.stringMatching(/^Created 3 courses /),
    ...Array(4).fill(expect.stringMatching(/^course\.created /)),
  ])
  expect(await found('&fold=off')).toHaveLength(7)
  const { id } = (await admin.post('/v1/courses', { title: 'Logic' })).body
  for (const title of ['A', 'B', 'C']) await admin.put(`/v1/courses/${id}`, { title })
  expect((await found())[0]).toMatch(/^Created 1 course, updated 1 course .* 4 entries /)
  expect(await found(`&subject=${id}`)).toHaveLength(4)
})

test('pages of runs are as long as others, and follow each other without a gap', { tags: ['slow'] }, async ({
  academy,
  admin,
  browser,
}) => {
  for (let index = 0; index < 26; index += 1) {
    academy.clock.advance(61_000)
    await importUsers(admin, usersOf(3, `run${index}-`))
  }
  const search = `?action=user.created&credential=${(await admin.get('/v1/audit?limit=1')).body.data[0].credential}`
  const first = await browser.open(`/dashboard/audit${search}`)
  const second = await browser.open(linkTo(first.html, 'Next page'))
  const names = [first, second].map(({ html }) =>
    rowsIn(html).map((row) => /^Created 3 users .* 3 entries run(\d+)-2@/.exec(row)?.[1]),
  )
  expect(names).toEqual([Array.from({ length: 25 }, (_, index) => String(25 - index)), ['0']])
  expect(second.text).toContain('Last page')
  expect(second.text).not.toContain('Continue')
})

test('an import that is longer than a page looks at continues on the next one', { tags: ['slow'] }, async ({
  admin,
  browser,
}) => {
  for (const name of ['a', 'b', 'c']) await importUsers(admin, usersOf(700, name))
  const first = await browser.open(
    `/dashboard/audit?action=user.created&user=${encodeURIComponent(admin.email)}`,
  )
  expect(rowsIn(first.html)).toEqual([
    expect.stringMatching(/^Created 2,000 users Continues on the next page .* List all 2,000 entries /),
  ])
  const second = await browser.open(linkTo(first.html, 'Next page'))
  expect(rowsIn(second.html)).toEqual([
    expect.stringMatching(
      /^Created 100 users Continued from the previous page .* 100 entries a99@b\.example /,
    ),
  ])
  expect(second.text).toContain('Last page')
})
