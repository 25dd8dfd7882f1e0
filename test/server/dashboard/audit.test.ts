import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { linkEntries } from '../../../src/server/changes/audit-entry.ts'
import type { TestAcademy } from '../../helpers/academy.ts'
import { test as base } from './signed-in.ts'

const test = base.extend('courseId', async ({ admin }) => {
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

test('entries are listed with subject, user and address', async ({ admin, browser, courseId }) => {
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

test('the chain counts linked and waiting', { tags: ['slow'] }, async ({ academy, browser, courseId }) => {
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

test('an entry leads to the change that it is part of', async ({ academy, admin, browser, courseId }) => {
  await academy.database.run(sql`
    insert into changes (id, user_id, command, source, state, created_at)
    values ('chg_1', ${admin.id}, 'users import', 'users.csv', 'done', '2026-03-01T12:00:00.000Z')`)
  await academy.database.run(sql`update audit_entries set change_id = 'chg_1' where subject_id = ${courseId}`)
  const list = await browser.open(`/dashboard/audit?subject=${courseId}`)
  const [, link = ''] = /<a href="(\/dashboard\/audit\/aud_\w+)">/.exec(list.html) ?? []
  expect((await browser.open(link)).html).toContain('<a href="/dashboard/changes/chg_1">')
})
