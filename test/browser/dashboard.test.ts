import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { sign } from '../../src/lms/verify.ts'
import { freshDirectory, start } from '../helpers/academy.ts'
import { listen } from '../helpers/listen.ts'
import { webhookSecret } from '../helpers/lms.ts'
import { type Served, startServer } from '../server/socket/served.ts'
import {
  allRules,
  test as base,
  chromiumPath,
  findBarriers,
  layoutRules,
  saveScreenshot,
} from './chromium.ts'

const title = 'Logic <b>& "rhetoric"</b>'

/** Signs in if the sign-in page is shown. */
async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail address or username').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/**
 * One academy for all tests: a course, its learners, and its admin, who is signed in to the dashboard. Each test
 * changes only records that it made.
 */
const test = base
  .extend('school', { scope: 'file' }, async ({ executablePath: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    const served = await startServer(join(path, 'academy.db'), {
      firstPassword: true,
      webhookAllow: ['127.0.0.1'],
    })
    onCleanup(async () => {
      await served.stop()
      remove()
    })
    const send = async (target: string, method: string, body: object) => {
      const answer = await served.fetch(target, {
        method,
        headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(answer.ok).toBe(true)
      return answer.json()
    }
    const modules = [{ title: 'Begin' }, { title: 'End' }]
    const { id: courseId } = await send('/v1/courses', 'POST', { title, status: 'published', modules })
    await send('/v1/lessons', 'POST', { courseId, title: 'Terms', dueAt: '2026-12-01T12:00:00Z' })
    const { id: emptyId } = await send('/v1/courses', 'POST', { title: 'Empty' })
    const learners: string[] = []
    for (const [firstName, completionPercentage] of [
      ['Ada', 100],
      ['Grace', 40],
    ] as const) {
      const email = `${firstName.toLowerCase()}@school.example`
      const learner = await send('/v1/users', 'POST', { email, profile: { firstName } })
      learners.push(learner.id)
      await send(`/v1/learners/${learner.id}/progress`, 'PUT', { courseId, completionPercentage })
      for (let item = 1; item <= 12; item += 1) {
        const grade = { itemId: `item-${item}`, label: `A long name of item ${item}`, scoreMaximum: 20 }
        await send('/v1/grades', 'PUT', {
          ...grade,
          learnerId: learner.id,
          courseId,
          scoreGiven: 20 - item / 2,
        })
      }
    }
    const connected = await connectSystems(served, { courseId, learnerId: learners[0] ?? '' })
    const { email, password } = served.firstPassword!
    return {
      url: served.url,
      email,
      password,
      courseId,
      emptyId,
      learnerId: learners[0] ?? '',
      connected,
      send,
    }
  })
  .extend('signedIn', { scope: 'file' }, async ({ browser, school: { url, email, password } }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${url}/dashboard`)
    await signIn(page, email, password)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const state = await context.storageState()
    await context.close()
    return state
  })
  .extend('dashboard', async ({ context, page, school, signedIn }): Promise<Page> => {
    await context.addCookies(signedIn.cookies)
    await page.goto(`${school.url}/dashboard`)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.waitForLoadState()
    return page
  })

/**
 * Fails on accessibility problems, in a wide window with light colours and in a narrow one with dark colours, which no
 * content may exceed.
 */
async function expectNoneOn(
  page: Page,
  base: string,
  paths: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, path] of Object.entries(paths)) {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(base + path)
    expect({ name, found: await findBarriers(page, [allRules]) }).toEqual({ name, found: [] })
    await page.setViewportSize({ width: 360, height: 800 })
    const { wide, seen } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth,
      seen: document.documentElement.clientWidth,
    }))
    expect({ name, wide }).toEqual({ name, wide: seen })
    expect({ name, found: await findBarriers(page, [layoutRules]) }).toEqual({ name, found: [] })
    await saveScreenshot(page, `narrow-${name}`)
  }
}

const section = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name })

describe.skipIf(chromiumPath === undefined)('the dashboard in a real browser', () => {
  test('makes a key that works until it is revoked, and shows it once', async ({
    school,
    dashboard,
    complaints,
  }) => {
    await section(dashboard, 'API keys').click()
    await dashboard.getByLabel('Name').fill('laptop')
    await dashboard.getByRole('button', { name: 'Create key' }).click()
    const key = await dashboard.locator('code').filter({ hasText: 'lpk_' }).innerText()
    await saveScreenshot(dashboard, 'new-key')
    const status = async () =>
      (await fetch(`${school.url}/v1/courses`, { headers: { authorization: `Bearer ${key}` } })).status
    expect(await status()).toBe(200)
    expect(dashboard.url()).not.toContain(key)

    await dashboard.reload()
    expect(await dashboard.content()).not.toContain(key)
    await section(dashboard, 'API keys').click()
    // A locator that matches several rows fails.
    await dashboard.getByRole('row').filter({ hasText: 'laptop' }).waitFor()
    await saveScreenshot(dashboard, 'keys')
    await dashboard
      .getByRole('row')
      .filter({ hasText: 'laptop' })
      .getByRole('link', { name: /^Revoke/ })
      .click()
    await saveScreenshot(dashboard, 'revoke-key')
    await dashboard.getByRole('button', { name: 'Revoke key' }).click()
    await dashboard.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    expect(await status()).toBe(401)
    expect(complaints).toEqual([])
  })

  test('has no barrier on any page about courses, and fits a telephone', async ({ school, dashboard }) => {
    const { courseId, emptyId } = school
    await expectNoneOn(dashboard, `${school.url}/dashboard`, {
      overview: '',
      courses: '/courses?q=logic&sort=-title',
      'no-courses': '/courses?q=nothing',
      course: `/courses/${courseId}`,
      'course-search': `/courses/${courseId}?q=nobody`,
      'course-attention': `/courses/${courseId}?attention=stuck`,
      'empty-course': `/courses/${emptyId}`,
      lessons: `/courses/${courseId}/lessons`,
      'course-grades': `/courses/${courseId}/grades`,
      'empty-course-grades': `/courses/${emptyId}/grades`,
      report: '/report',
      'german-report': `/report?course=${school.courseId}&language=de`,
    })
  })

  test('has no barrier on any page about people, and fits a telephone', async ({ school, dashboard }) => {
    const { learnerId, connected } = school
    await expectNoneOn(dashboard, `${school.url}/dashboard`, {
      people: '/people?role=learner',
      'wrong-filter': '/people?role=king',
      learner: `/learners/${learnerId}`,
      'learner-grades': `/learners/${learnerId}/grades`,
      'learner-history': `/learners/${learnerId}/history`,
      grade: `/grades/${connected.gradeId}`,
      activity: '/activity?by=day',
      'no-activity': '/activity?from=2001-01-01&to=2001-01-03',
      nothing: '/nothing',
    })
  })

  test('has no barrier on any page about other systems, and fits a telephone', async ({
    school,
    dashboard,
  }) => {
    const { endpointId, messageId, deliveries } = school.connected
    await expectNoneOn(dashboard, `${school.url}/dashboard`, {
      integrations: '/integrations',
      integration: '/integrations/standard',
      'integration-to-connect': '/integrations/canvas',
      deliveries: '/deliveries',
      ...Object.fromEntries(
        ['applied', 'unmatched', 'failed'].map((status) => [
          `delivery-${status}`,
          `/deliveries/${deliveries[status]}`,
        ]),
      ),
      endpoints: '/endpoints',
      calendars: '/calendars',
      endpoint: `/endpoints/${endpointId}`,
      'rotate-secret': `/endpoints/${endpointId}/rotate`,
      messages: '/messages',
      message: `/messages/${messageId}`,
    })
    await dashboard.goto(`${school.url}/dashboard/messages/${messageId}`)
    expect(await dashboard.getByRole('table').innerText()).toMatch(/HTTP 500.*a long response/s)
  })

  test('has no barrier on any page about the academy, and fits a telephone', async ({
    school,
    dashboard,
  }) => {
    const { changed, erased } = school.connected
    await expectNoneOn(dashboard, `${school.url}/dashboard`, {
      keys: '/keys',
      apps: '/apps',
      account: '/account',
      audit: '/audit',
      'audit-entry': `/audit/${changed}`,
      'erased-audit-entry': `/audit/${erased}`,
    })
    await dashboard.goto(`${school.url}/dashboard/audit/${changed}`)
    expect(await dashboard.getByRole('table').innerText()).toMatch(/description.*Before it.*After it/s)
    await dashboard.goto(`${school.url}/dashboard/audit/${erased}`)
    await dashboard.getByText('The details were erased').waitFor()
  })

  test('breaks no word of an address or an action in changes and the audit log', async ({
    school,
    dashboard,
  }) => {
    await dashboard.setViewportSize({ width: 1280, height: 900 })
    for (const path of ['/dashboard/changes', '/dashboard/audit']) {
      await dashboard.goto(school.url + path)
      const broken = await dashboard.evaluate(() => {
        const texts = document.createTreeWalker(
          document.querySelector('tbody') ?? document,
          NodeFilter.SHOW_TEXT,
        )
        const found: string[] = []
        for (let node = texts.nextNode(); node; node = texts.nextNode()) {
          const range = document.createRange()
          range.selectNodeContents(node)
          // Ids and long addresses of pages have no place to break at.
          const isWord = /^[A-Za-z@._]+$/.test(node.nodeValue ?? '')
          if (isWord && range.getClientRects().length > 1) found.push(node.nodeValue ?? '')
        }
        return found
      })
      expect({ path, broken }).toEqual({ path, broken: [] })
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
})

const longId = 'block-v1:School+BIO101+2026T1+type@problem+block@8e6a1c0b2d3f4a5b6c7d8e9f0a1b2c3d'

/**
 * Connects an academy with other systems: deliveries with each outcome, a message that was refused once, and entries of
 * the audit log, one of them erased.
 */
async function connectSystems(
  served: Served,
  { courseId, learnerId }: { readonly courseId: string; readonly learnerId: string },
) {
  const send = async (target: string, method = 'GET', body?: object) => {
    const headers = { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' }
    const answer = await served.fetch(target, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect({ target, ok: answer.ok, text }).toMatchObject({ target, ok: true })
    return text === '' ? undefined : JSON.parse(text)
  }
  const receiver = await listen(
    createServer((request, answer) => {
      request.resume()
      answer.writeHead(500).end(`a long response ${'x'.repeat(400)}`)
    }),
  )

  const gradeItems = { [longId]: { name: 'Quiz', maximum: 20, weight: 30 } }
  const webhookSecrets = [webhookSecret]
  await send('/v1/integrations/standard', 'PUT', {
    webhookSecrets,
    gradeItems,
    baseUrl: `https://${'a'.repeat(60)}.example`,
  })
  const mapping = { noun: 'course', externalKey: longId, reference: courseId }
  await send('/v1/integrations/standard/mappings', 'PUT', mapping)
  const grade = { userId: learnerId, courseId, itemId: longId, scoreGiven: 18, scoreMaximum: 20 }
  for (const [id, data] of Object.entries({
    applied: grade,
    stale: { ...grade, timestamp: '2020-01-01T00:00:00Z' },
    unmatched: { ...grade, userId: 'nobody' },
    failed: { ...grade, scoreGiven: 'twelve' },
    ignored: { ...grade, scoreGiven: -1 },
  })) {
    const payload = { type: 'grade.updated', timestamp: start, data }
    const { headers, body } = await sign('standard', payload, {
      secret: webhookSecret,
      now: Date.parse(start),
      id,
    })
    await served.fetch('/webhooks/standard/grades', { method: 'POST', headers: { ...headers }, body })
  }
  const { data: inbox } = await send('/v1/webhooks/deliveries')
  const deliveries = Object.fromEntries(
    (inbox as { id: string; status: string }[]).map(({ id, status }) => [status, id]),
  )
  expect(Object.keys(deliveries).sort()).toEqual(['applied', 'failed', 'ignored', 'stale', 'unmatched'])

  const url = `${receiver.url}/a/long/path/to/the/receiver/of/all/events`
  const { id: endpointId } = await send('/v1/webhooks/endpoints', 'POST', { url, events: ['lesson.*'] })
  const { id: messageId } = await send(`/v1/webhooks/endpoints/${endpointId}/test`, 'POST', {})
  await expect
    .poll(async () => (await send(`/v1/webhooks/messages/${messageId}`)).attemptCount, {
      interval: 20,
    })
    .toBe(1)
  await receiver.close()

  const { id: changedId } = await send('/v1/courses', 'POST', { title: 'Changed', description: 'Before it' })
  await send(`/v1/courses/${changedId}`, 'PUT', { title: 'Changed', description: 'After it' })
  const { id: goneId } = await send('/v1/users', 'POST', { email: 'gone@school.example' })
  await send(`/v1/users/${goneId}?erase=true`, 'DELETE')
  const entryOf = async (action: string, subjectId: string): Promise<string> =>
    (await send(`/v1/audit?action=${action}&subject_id=${subjectId}`)).data[0].id
  return {
    deliveries,
    gradeId: (await send(`/v1/webhooks/deliveries/${deliveries['applied']}`)).gradeId as string,
    endpointId: endpointId as string,
    messageId: messageId as string,
    changed: await entryOf('course.updated', changedId),
    erased: await entryOf('user.created', goneId),
  }
}
