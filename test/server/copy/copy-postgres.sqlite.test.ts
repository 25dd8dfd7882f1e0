import { join } from 'node:path'
import sql from 'sql-template-tag'
import { describe, expect, onTestFinished } from 'vitest'
import { openAcademyFile, openAcademyOnPostgres } from '../../../src/server/academy/open-academy.ts'
import { type CopyOptions, copyAcademy } from '../../../src/server/copy/copy-academy.ts'
import { type CopyPlace, openCopyEnds } from '../../../src/server/copy/copy-ends.ts'
import { freshDirectory, start, type TestAcademy, test } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { makeDatabase, startPostgresProxy, withoutPostgres } from '../../helpers/postgres.ts'
import { authorizePath, givePassword, issuer, password } from '../oauth/flow.ts'
import { appOn } from './copied.ts'

/** An empty database as the target of a copy. */
async function emptyPlace() {
  const { url, name, remove } = await makeDatabase()
  onTestFinished(remove)
  return { name, postgres: { url, env: {} } }
}

async function copied(
  from: CopyPlace,
  to: CopyPlace,
  { clock }: TestAcademy,
  more: Partial<CopyOptions> = {},
) {
  const ends = await openCopyEnds(from, to, clock.now)
  const signal = new AbortController().signal
  try {
    return await copyAcademy({ ...ends, signal, onProgress: async () => undefined, ...more })
  } finally {
    await ends.close()
  }
}

/** Users, courses and progress, with values that the databases could store differently. */
async function fill({ database, person, grade }: TestAcademy): Promise<string> {
  const admin = await person('admin')
  const learner = await person('learner')
  const course = await admin.post('/v1/courses', { title: 'Ünï 🐟' })
  const courseId = course.body.id
  await admin.post('/v1/enrollments', { courseId, userId: learner.id, role: 'learner' })
  await admin.put(`/v1/user/profile`, { username: 'ada' })
  await grade({ learnerId: learner.id, courseId, scoreGiven: 0.1 + 0.2 })
  await database.write(async (transaction) => {
    for (let index = 0; index < 700; index += 1) {
      const id = `usr_${index % 2 ? 'Z' : 'a'}${String(index).padStart(5, '0')}`
      await transaction.run(sql`
        insert into users (id, email, email_key, role, status, profile, version, created_at, updated_at)
        values (${id}, ${id}, ${id}, 'learner', 'active', '{ "firstName" : "x" }', 1, ${start}, ${start})`)
    }
  })
  return admin.key
}

async function exportOf(app: Awaited<ReturnType<typeof appOn>>, key: string): Promise<string> {
  const answer = await app.request('GET', '/v1/analytics/learners?format=csv', {
    headers: { authorization: `Bearer ${key}`, accept: 'text/csv' },
  })
  expect(answer.status).toBe(200)
  return answer.text()
}

describe.skipIf(withoutPostgres)('to PostgreSQL and back', () => {
  test('nothing changes: exports, keys and sessions stay the same', async ({ academy, admin }) => {
    const key = await fill(academy)
    await givePassword(academy, admin.id)
    const browser = plainBrowser(academy.fetch, issuer)
    await browser.signIn(await browser.open(authorizePath()), admin.email, password)
    const { path, remove } = freshDirectory()
    onTestFinished(remove)
    const there = await emptyPlace()
    const back = { name: join(path, 'back.db') }
    const first = await copied({ name: academy.path }, there, academy)
    const second = await copied(there, back, academy)
    expect(second).toEqual(first)

    const { now } = academy.clock
    const apps = [
      await appOn(await openAcademyFile(academy.path, now), now),
      await appOn(await openAcademyOnPostgres(there.postgres, now), now),
      await appOn(back.name, now),
    ]
    const exports = []
    for (const app of apps) {
      exports.push(await exportOf(app, key))
      const page = await app.request('GET', '/dashboard', { headers: { cookie: browser.cookie() } })
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(admin.email)])
    }
    expect(exports[0]?.split('\n').length).toBeGreaterThan(1)
    expect(exports[1]).toBe(exports[0])
    expect(exports[2]).toBe(exports[0])
  })

  test('a connection that is cut leaves no copy, and the next one is equal', async ({ academy }) => {
    const key = await fill(academy)
    const there = await emptyPlace()
    await using front = await startPostgresProxy(there.postgres.url)
    const through = { name: there.name, postgres: { url: front.url, env: {} } }
    let rows = 0
    const onProgress: CopyOptions['onProgress'] = async (progress) => {
      rows = progress.table === 'users' ? progress.rows : 0
    }
    let isCut = false
    front.onClient = (text, cut) => {
      if (rows === 0 || isCut || !/insert into users .*/s.test(text)) return
      isCut = true
      cut()
    }
    await expect(copied({ name: academy.path }, through, academy, { onProgress })).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(isCut).toBe(true)
    await copied({ name: academy.path }, through, academy)
    const { now } = academy.clock
    const original = await appOn(await openAcademyFile(academy.path, now), now)
    const copy = await appOn(await openAcademyOnPostgres(there.postgres, now), now)
    expect(await exportOf(copy, key)).toBe(await exportOf(original, key))
  })

  test('a text that PostgreSQL cannot hold stops the copy before it begins', async ({ academy }) => {
    await academy.database.run(sql`update users set profile = ${JSON.stringify({ firstName: '\u0000' })}`)
    const there = await emptyPlace()
    await expect(copied({ name: academy.path }, there, academy)).rejects.toMatchObject({
      code: 'text_refused',
    })
  })

  test('an empty database is no academy to copy, and is left empty', async ({ academy }) => {
    const [there, other] = [await emptyPlace(), await emptyPlace()]
    for (let turn = 0; turn < 2; turn += 1) {
      await expect(copied(there, other, academy)).rejects.toThrow('holds no academy')
    }
  })

  test('a connected server anywhere prevents it', async ({ academy }) => {
    const there = await emptyPlace()
    const { database } = await openAcademyOnPostgres(there.postgres, academy.clock.now)
    await database.one(sql`select 1`)
    await expect(copied({ name: academy.path }, there, academy)).rejects.toMatchObject({ code: 'in_use' })
    await database.close()
    await copied({ name: academy.path }, there, academy)
  })
})
