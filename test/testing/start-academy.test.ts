import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ApiError } from '../../src/client/client.ts'
import { type AcademyOptions, startAcademy } from '../../src/testing/testing.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { putNewAcademy } from '../helpers/new-academy.ts'

const records = {
  courses: [{ title: 'Tides', externalId: 'BIO-101', status: 'published' }],
  lessons: [{ courseId: 'ext:BIO-101', title: 'The tides' }],
  users: [{ email: 'ada@example.org', externalId: 'a1' }],
  enrollments: [{ courseId: 'ext:BIO-101', userId: 'ext:a1' }],
  groups: [{ name: 'Divers' }],
  progress: [{ learnerId: 'ext:a1', courseId: 'ext:BIO-101', completionPercentage: 40 }],
  grades: [{ learnerId: 'ext:a1', courseId: 'ext:BIO-101', scoreGiven: 8, scoreMaximum: 10 }],
} as const

/** Returns the path of a file in a new folder. */
function fileWith(name: string, text: string): string {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  writeFileSync(join(path, name), text)
  return join(path, name)
}

describe('an academy in this process', () => {
  test('has the records of its seed, and the same ids in each run', { tags: ['slow'] }, async () => {
    const file = fileWith('users.csv', 'email\ngrace@example.org\n')
    const ids: string[][] = []
    for (let run = 0; run < 2; run += 1) {
      await using academy = await startAcademy({
        ...{ inProcess: true, seed: [records, file], seedId: 7, clock: '2026-01-01' },
      })
      const { client } = academy
      const { data: users } = await client.users.list({ sort: 'email' })
      expect(users.map(({ email }) => email)).toEqual([
        'ada@example.org',
        'admin@academy.local',
        'grace@example.org',
      ])
      expect((await client.progress.list('ext:a1')).data).toMatchObject([
        { completionPercentage: 40, updatedAt: '2026-01-01T00:00:00.000Z' },
      ])
      const lists = await Promise.all([client.lessons.list(), client.groups.list(), client.grades.list()])
      expect(lists.map(({ data }) => data.length)).toEqual([1, 1, 1])
      const course = await client.courses.create({ title: 'Made by the test' })
      ids.push([...users.map(({ id }) => id), course.id])
    }
    expect(ids[1]).toEqual(ids[0])
  })

  test('returns to the state after its seed, ids included', { tags: ['slow'] }, async () => {
    await using academy = await startAcademy({ inProcess: true, seed: records, seedId: 7 })
    const { client } = academy
    const made: string[] = []
    for (let run = 0; run < 2; run += 1) {
      made.push((await client.courses.create({ title: 'Currents' })).id)
      await client.users.delete('ext:a1')
      expect(academy.webhooks().map(({ type }) => type)).toEqual(
        expect.arrayContaining(['course.created', 'user.deleted']),
      )
      await academy.reset()
      expect(academy.webhooks()).toEqual([])
      expect((await client.courses.list()).data.map(({ title }) => title)).toEqual(['Tides'])
      expect(await client.users.get('ext:a1')).toMatchObject({ status: 'active' })
    }
    expect(made[1]).toBe(made[0])
  })

  test('throws the errors of learnctl/client', { tags: ['slow'] }, async () => {
    await using academy = await startAcademy({ inProcess: true })
    const error = await academy.client.courses.get('none').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
  })
})

describe('an academy on a port', () => {
  test('has an address and a key, the same when it returns to its seed', { tags: ['slow'] }, async () => {
    await using academy = await startAcademy({ seed: records })
    const { url, apiKey, env } = academy
    expect(env).toEqual({ LEARNCTL_URL: url, LEARNCTL_API_KEY: apiKey })
    const titles = async () => {
      const reply = await fetch(`${url}/v1/courses`, { headers: { authorization: `Bearer ${apiKey}` } })
      const { data } = (await reply.json()) as { data: { title: string }[] }
      return data.map(({ title }) => title)
    }
    await academy.client.courses.update('ext:BIO-101', { title: 'Currents' })
    expect(await titles()).toEqual(['Currents'])
    await academy.reset()
    expect(await titles()).toEqual(['Tides'])
    expect(academy.url).toBe(url)
  })

  test('is alone: several have nothing in common', { tags: ['slow'] }, async () => {
    await using one = await startAcademy()
    await using other = await startAcademy()
    await one.client.courses.create({ title: 'Tides' })
    expect((await other.client.courses.list()).data).toEqual([])
    expect(other.webhooks()).toEqual([])
    await one.close()
    expect(await other.client.service.health()).toMatchObject({ status: 'ok' })
  })
})

describe('a webhook', () => {
  test('is what an endpoint would get, once its change is answered', { tags: ['slow'] }, async () => {
    await using academy = await startAcademy({ inProcess: true, seed: records })
    expect(academy.webhooks()).toEqual([])
    await academy.client.progress.set('ext:a1', { courseId: 'ext:BIO-101', completionPercentage: 100 })
    const [webhook] = academy.webhooks('progress.completed')
    const { id, body, ...event } = webhook ?? {}
    expect(event).toMatchObject({ type: 'progress.completed', data: { userExternalId: 'a1' } })
    expect(id).toMatch(/^msg_/)
    expect(JSON.parse(body ?? '')).toEqual(event)
    expect((await academy.client.endpoints.list()).data).toEqual([])
  })

  test('can be waited for, each once', async () => {
    await using academy = await startAcademy({ inProcess: true })
    const first = academy.webhook('course.created')
    for (const title of ['Tides', 'Currents']) await academy.client.courses.create({ title })
    expect((await first).data).toMatchObject({ title: 'Tides' })
    expect((await academy.webhook('course.created')).data).toMatchObject({ title: 'Currents' })
    await expect(academy.webhook('course.created', { timeoutMs: 1 })).rejects.toThrow(
      'No webhook course.created within 0.001 s: there were course.created',
    )
  })
})

test('a snapshot is the beginning, and stays as it is', { tags: ['slow'] }, async () => {
  const { path: directory, remove } = freshDirectory()
  onTestFinished(remove)
  const snapshot = join(directory, 'school.db')
  await putNewAcademy(snapshot)
  const bytes = readFileSync(snapshot)
  await using academy = await startAcademy({ inProcess: true, snapshot, seed: records })
  expect((await academy.client.courses.list()).data).toHaveLength(1)
  expect(readFileSync(snapshot).equals(bytes)).toBe(true)
})

test.for<[AcademyOptions, string]>([
  [{ seed: 'none.csv' }, 'Cannot read seed none.csv: file not found'],
  [{ snapshot: 'none.db' }, 'none.db cannot be opened'],
  [{ clock: 'soon' }, 'clock must be a time such as 2026-01-01T12:00:00Z, not "soon"'],
  [{ seedId: -1 }, 'seedId must be a whole number from 0 to 4294967295, not -1'],
  [{ seedId: 1, snapshot: 'none.db' }, 'snapshot and seedId cannot be used together'],
  [{ port: 70_000 }, 'port must be a whole number from 0 to 65535, not 70000'],
  [{ port: 1, inProcess: true }, 'port and inProcess cannot be used together'],
  [
    { seed: { users: [{ email: 'ada@example.org' }, { email: 'ada' }] } },
    'users[1]: email must be an e-mail',
  ],
  [{ seed: { courses: [{ title: '' }] } }, 'courses[0]: '],
  [JSON.parse('{"seed":{"cours":[]}}'), 'Unknown name in seed: cours; known are courses, lessons, '],
  [JSON.parse('{"seeds":"examples"}'), 'Unknown name in options: seeds; known are seed, snapshot, '],
  [{ seed: { enrollments: [{ courseId: 'ext:none', userId: 'ext:a1' }] } }, 'Course ext:none not found'],
])('%o is refused: %s', async ([options, words]) => {
  await expect(startAcademy(options)).rejects.toMatchObject({
    name: 'AcademyError',
    message: expect.stringContaining(words),
  })
})

test('a seed with invalid rows is refused with their lines', async () => {
  const file = fileWith('users.csv', 'email\nada@example.org\nnobody\n')
  await expect(startAcademy({ inProcess: true, seed: file })).rejects.toMatchObject({
    name: 'AcademyError',
    message: expect.stringMatching(
      /^Cannot seed the academy with .*users\.csv\n {2}error: .*\n.*:3: email: /,
    ),
  })
})

test('a port that is in use is named', async () => {
  await using academy = await startAcademy()
  const port = Number(new URL(academy.url).port)
  await expect(startAcademy({ port })).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is already in use\n  hint: Leave out port for any free one`,
  )
})
