import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { openTestAcademy, type TestAcademy } from '../../helpers/academy.ts'
import type { Shown } from '../../helpers/browser.ts'
import { test as base, complete, fillPath, pathsOf, sendForm, signInTo, thingsOf } from './signed-in.ts'

/** Returns the paths of pages, without those of files. */
const pagePaths = pathsOf('GET').filter((path) => !/\.(csv|xlsx|html)$/.test(path))

const hostile = '<script>alert("x")</script>\'&amp;'

interface Looked {
  readonly name: string
  readonly page: Shown
}

/** Opens every page, with hostile text wherever it shows text of other users. */
async function everyPage(academy: TestAcademy): Promise<Looked[]> {
  const admin = await academy.person('admin')
  const browser = await signInTo(academy, admin)
  const things = await thingsOf(academy, admin, admin)
  const { courseId } = things
  await admin.put(`/v1/courses/${courseId}`, { title: hostile, description: hostile, externalId: hostile })
  const profile = { firstName: hostile, lastName: hostile, displayName: hostile }
  const learner = await admin.post('/v1/users', { email: 'l@b.example', profile })
  await admin.put(`/v1/users/${admin.id}`, { profile })
  await admin.put(`/v1/learners/${learner.body.id}/progress`, { courseId, completionPercentage: 40 })
  await academy.grade({ learnerId: learner.body.id, courseId, scoreGiven: 40, itemId: 'x', label: hostile })
  await sendForm(browser, '/dashboard/keys', { ...complete['/dashboard/keys'], name: hostile })
  await admin.put(`/v1/webhooks/endpoints/${things.endpointId}`, { description: hostile })
  const { body: changed } = await admin.get(`/v1/audit?action=course.updated&subject_id=${courseId}`)
  const shown = { ...things, entryId: changed.data[0].id as string }
  await academy.database.run(sql`update changes set command = ${hostile}, source = ${hostile}`)
  await academy.database.run(sql`update audit_entries set change_id = ${things.changeId}`)
  await academy.database.run(sql`
    update webhook_deliveries set event = ${hostile}, detail = ${hostile} where id = ${things.deliveryId}`)
  const mapping = { noun: 'course', externalKey: hostile, reference: courseId }
  await admin.put('/v1/integrations/moodle/mappings', mapping)
  await academy.database.run(sql`
    insert into webhook_attempts (message_id, number, started_at, duration_ms, status, result, response)
    values (${things.messageId}, 1, '2026-03-01T12:00:00.000Z', 12, 500, 'HTTP 500', ${hostile})`)
  const looked: Looked[] = []
  for (const path of pagePaths) {
    looked.push({ name: path, page: await browser.open(fillPath(path, shown)) })
  }
  const fields = { ...complete['/dashboard/apps'], name: hostile }
  looked.push({ name: 'a new application', page: await sendForm(browser, '/dashboard/apps', fields) })
  const faulty = { ...fields, once: `req_${'1'.repeat(29)}`, redirectUris: hostile }
  looked.push({ name: 'a faulty form', page: await sendForm(browser, '/dashboard/apps', faulty) })
  looked.push({ name: 'a note', page: await browser.open('/dashboard/keys?done=key_revoked') })
  browser.forget()
  looked.push({ name: 'signing in', page: await browser.open('/dashboard') })
  return looked
}

const test = base.extend('looked', { scope: 'file' }, async () => {
  await using academy = await openTestAcademy()
  return await everyPage(academy)
})

/** Returns the start tags of these elements. */
function tags(html: string, ...names: readonly string[]): string[] {
  return [...html.matchAll(new RegExp(`<(?:${names.join('|')})\\b[^>]*>`, 'g'))].map(([tag]) => tag)
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
}

/** Entries of the navigation for pages below another one. */
const sections: Readonly<Record<string, string>> = {
  learners: 'people',
  grades: 'people',
  deliveries: 'integrations',
  endpoints: 'integrations',
  messages: 'integrations',
  calendars: 'integrations',
  grants: 'account',
  sessions: 'account',
  'other-sessions': 'account',
}

describe('every page', () => {
  test('shows what people wrote as text', { tags: ['slow'] }, ({ looked }) => {
    for (const { name, page } of looked) expect(page.html, name).not.toMatch(/<script|alert\("x"\)/)
    const shown = looked.filter(({ page }) => page.text.includes(hostile)).map(({ name }) => name)
    expect(shown).toEqual([
      '/dashboard',
      '/dashboard/courses',
      '/dashboard/courses/:courseId',
      '/dashboard/courses/:courseId/lessons',
      '/dashboard/courses/:courseId/grades',
      '/dashboard/people',
      '/dashboard/report',
      '/dashboard/learners/:userId',
      '/dashboard/learners/:userId/grades',
      '/dashboard/learners/:userId/history',
      '/dashboard/grades/:gradeId',
      '/dashboard/activity',
      '/dashboard/keys',
      '/dashboard/integrations/:lmsKind',
      '/dashboard/deliveries',
      '/dashboard/deliveries/:deliveryId',
      '/dashboard/endpoints',
      '/dashboard/endpoints/:endpointId',
      '/dashboard/messages/:messageId',
      '/dashboard/changes',
      '/dashboard/changes/:changeId',
      '/dashboard/audit',
      '/dashboard/audit/:entryId',
      '/dashboard/account',
      'a new application',
      'a faulty form',
      'a note',
    ])
  })

  test('needs no script, no other file and no style of its own', { tags: ['slow'] }, ({ looked }) => {
    for (const { name, page } of looked) {
      expect(page.html, name).not.toMatch(/<(script|link|img|iframe|object|embed)\b|\son\w+=|\sstyle=/)
      expect(page.html.match(/url\([^)]*\)/g), name).toEqual(['url(#hatching)'])
    }
  })

  test('is sent without frames, caches and foreign content', { tags: ['slow'] }, ({ looked }) => {
    for (const { name, page } of looked) {
      const headers = Object.fromEntries(page.headers)
      expect({ name, headers }).toMatchObject({
        name,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
          'content-security-policy': expect.stringMatching(
            /^default-src 'none'; style-src 'sha256-[^']+'(?: 'sha256-[^']+')?; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
          ),
        },
      })
    }
  })

  test('has a language, a title of its own, one heading of the first level, and landmarks', ({ looked }) => {
    const titles = new Set<string>()
    for (const { name, page } of looked) {
      const { html } = page
      expect(html, name).toContain('<html lang="en">')
      expect(tags(html, 'h1'), name).toHaveLength(1)
      expect(tags(html, 'main'), name).toHaveLength(1)
      expect(tags(html, 'header'), name).toHaveLength(1)
      titles.add(/<title>([^<]+) · learnctl academy<\/title>/.exec(html)?.[1] ?? '')
      const levels = tags(html, 'h[1-6]').map((tag) => Number(tag[2]))
      for (const [index, level] of levels.entries()) {
        expect(level - (levels[index - 1] ?? 0), name).toBeLessThanOrEqual(1)
      }
    }
    // The list of keys with a note is the same list.
    expect(titles.size).toBe(looked.length - 1)
    expect(titles).not.toContain('')
  })

  test('begins with a way past the navigation, which says where one is', ({ looked }) => {
    for (const { name, page } of looked.filter((one) => pagePaths.includes(one.name))) {
      const { 2: place = '' } = name.split('/')
      const section = `/dashboard/${sections[place] ?? place}`.replace(/\/$/, '')
      const current = `${section}" aria-current="${name === section ? 'page' : 'true'}`
      expect(page.html, name).toMatch(/<body><a class="skip" href="#content">/)
      expect(page.html, name).toMatch(/<main id="content" tabindex="-1"/)
      const banner = page.html.slice(0, page.html.indexOf('<main'))
      expect(banner.match(/href="([^"]*" aria-current="\w+)"/)?.[1], name).toBe(
        place === '*' ? undefined : current,
      )
    }
  })

  test('has a label for every field, and one id for each thing', ({ looked }) => {
    for (const { name, page } of looked) {
      const { html } = page
      const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
      expect(ids, name).toEqual([...new Set(ids)])
      for (const tag of tags(html, 'input', 'textarea', 'select')) {
        if (/type="(hidden|checkbox|radio)"/.test(tag)) continue
        expect(html, `${name}: ${tag}`).toContain(`<label for="${attribute(tag, 'id')}">`)
      }
      for (const [label] of html.matchAll(/<label class="choice">.*?<\/label>/g)) {
        expect(tags(label, 'input'), name).toHaveLength(1)
      }
      for (const reference of ['aria-describedby', 'aria-labelledby', 'href="#']) {
        const pattern = reference.startsWith('href')
          ? /href="#([^"]+)"/g
          : new RegExp(`${reference}="([^"]+)"`, 'g')
        for (const [, targets = ''] of html.matchAll(pattern)) {
          for (const target of targets.split(' ')) expect(ids, `${name}: ${target}`).toContain(target)
        }
      }
    }
  })

  test('names its tables, their columns and their rows', ({ looked }) => {
    const tables = looked.flatMap(({ page }) =>
      [...page.html.matchAll(/<table\b.*?<\/table>/g)].map(([one]) => one),
    )
    expect(tables.length).toBeGreaterThan(5)
    for (const table of tables) {
      expect(table).toMatch(/^<table[^>]*><caption>[^<]+<\/caption><thead/)
      for (const tag of tags(table, 'th')) expect(attribute(tag, 'scope')).toMatch(/^(col|row)$/)
      const columns = tags(table, 'th').filter((tag) => attribute(tag, 'scope') === 'col').length
      const rows = tags(table, 'tr').length - 1
      expect(tags(table, 'td')).toHaveLength((columns - 1) * rows)
    }
  })

  test('says in words what its pictures show', ({ looked }) => {
    const pictures = looked.flatMap(({ page }) =>
      [...page.html.matchAll(/<svg[^>]*role="img"[^>]*>(<title[^>]*>[^<]+<\/title>)?/g)].map(
        ([, title]) => title,
      ),
    )
    expect(pictures.length).toBeGreaterThan(2)
    expect(pictures).not.toContain(undefined)
    for (const { page, name } of looked) {
      for (const tag of tags(page.html, 'svg')) {
        const inner = /^<svg x=/.test(tag)
        expect(inner || /role="img"|aria-hidden="true"/.test(tag), `${name}: ${tag}`).toBe(true)
      }
    }
  })
})

test('a slash too many leads to the page without it', async ({ browser }) => {
  for (const path of ['/dashboard', '/dashboard/keys']) {
    expect(await browser.open(`${path}/`)).toMatchObject({ status: 200, url: `http://localhost${path}` })
  }
  expect(await browser.open('/dashboard//')).toMatchObject({ status: 200, url: 'http://localhost/dashboard' })
})
