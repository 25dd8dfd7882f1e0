import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { removeTraces } from '../../../src/server/database/sweep.ts'
import { freshDirectory, onPostgres, stoppedClock, test } from '../../helpers/academy.ts'
import { startServer } from '../socket/served.ts'

/** The erased user, now and earlier. */
const marks = [
  'augusta.byron',
  'ada.lovelace',
  'Lovelace',
  'Analytical engines',
  'S-4711',
  'countess',
  'tablet of Ada',
]
const person = {
  email: 'augusta.byron@school.example',
  externalId: 'S-4711',
  username: 'countess',
  profile: { firstName: 'Ada', lastName: 'Lovelace', bio: 'Analytical engines, '.repeat(100) },
}

/** Returns the personal data found in any file of the directory. */
function traces(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
  const texts = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1').toLowerCase())
  return marks.filter((mark) => texts.some((text) => text.includes(mark.toLowerCase())))
}

test.skipIf(onPostgres)(
  'nothing of an erased person is in the files of an academy that is served, nor in its log, nor once it is stopped',
  { tags: ['slow'] },
  async ({ onTestFinished }) => {
    const directory = freshDirectory()
    onTestFinished(directory.remove)
    const { fetch, key: admin, log, stop } = await startServer(join(directory.path, 'academy.db'))
    const send = async (method: string, path: string, body?: object, key?: string) => {
      const headers = {
        authorization: `Bearer ${admin}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      }
      const response = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      expect(response.status, `${method} ${path}`).toBeLessThan(300)
      return response.status === 204 ? null : response.json()
    }
    const crowd = (half: number) =>
      Array.from({ length: 60 }, (_, index) => ({
        email: `${(index * 7919 + half * 104_729) % 1009}-${half}@school.example`,
        profile: { bio: 'x'.repeat((index * 31) % 400) },
      }))
    await send('POST', '/v1/users/batch', { items: crowd(1) })
    await send('POST', '/v1/users', person, '"made"')
    await send('POST', '/v1/users/batch', { items: [...crowd(2), person] }, '"again, S-4711"')
    const name = `/v1/users/email:${person.email}`
    await send('PUT', name, { email: 'ada.lovelace@school.example' })
    const { id } = (await send('GET', '/v1/users/email:ada.lovelace%40school.example')) as { id: string }
    await send('POST', '/v1/keys', { name: 'tablet of Ada', userId: id, scopes: ['read'] }, '"key"')
    const { id: courseId } = (await send('POST', '/v1/courses', { title: 'Logic', status: 'published' })) as {
      id: string
    }
    await send('PUT', '/v1/learners/ext:S-4711/progress', { courseId, completionPercentage: 10 })
    expect(traces(directory.path)).toHaveLength(marks.length)

    await send('DELETE', '/v1/users/email:ADA.lovelace@school.example?erase=true')
    expect(traces(directory.path)).toEqual([])
    expect(marks.filter((mark) => log.join('').toLowerCase().includes(mark.toLowerCase()))).toEqual([])
    expect(log.filter((line) => /\/v1\/users\/(email|ext):\*\*\*/.test(line)).length).toBeGreaterThan(0)
    expect((await send('GET', `/v1/users/${id}`)) as object).toMatchObject({ status: 'deleted' })
    await stop()
    expect(traces(directory.path)).toEqual([])
  },
)

// About the files of SQLite.
test.skipIf(onPostgres)(
  'while a reader holds an earlier state, traces wait for its end',
  async ({ academy, admin }) => {
    const { id } = (await admin.post('/v1/users', person)).body
    const reader = new DatabaseSync(academy.path, { readOnly: true })
    reader.exec('begin; select email from users')
    expect((await admin.delete(`/v1/users/${id}?erase=true`)).status).toBe(204)
    expect(traces(dirname(academy.path))).not.toEqual([])
    const later: (() => Promise<void>)[] = []
    const wait = (work: () => Promise<void>) => later.push(work)
    const { database } = await openAcademyFile(academy.path, stoppedClock().now)
    await removeTraces(database, wait)
    // The first request also waits for users that are erased meanwhile.
    await removeTraces(database, wait)
    expect(later).toHaveLength(1)
    await later.shift()?.()
    expect(later).toHaveLength(1)
    reader.close()
    await later.shift()?.()
    expect(later).toEqual([])
    expect(traces(dirname(academy.path))).toEqual([])
    await database.close()
  },
)

test('a log masks the external id and the address of a user', async ({ academy, admin }) => {
  const { id } = (await admin.post('/v1/users', person)).body
  const courseId = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG-1' })).body.id
  const logged = async (path: string) => {
    await admin.get(path)
    return academy.logged.at(-1)?.path
  }
  expect(await logged(`/v1/users/email:${person.email}`)).toBe('/v1/users/email:***')
  expect(await logged(`/v1/users/${id}`)).toBe(`/v1/users/${id}`)
  expect(await logged('/v1/learners/ext:S-4711/progress')).toBe('/v1/learners/ext:***/progress')
  expect(await logged('/v1/users/email%3Anobody%40school.example')).toBe('/v1/users/email:***')
  expect(await logged('/v1/people/ada@school.example')).toBe('/v1/people/***')
  expect(await logged('/v1/users/%ff%40')).toBe('/v1/users/***')
  expect(await logged('/v1/courses/ext:LOG-1')).toBe('/v1/courses/ext:LOG-1')
  expect(await logged(`/v1/courses/${courseId}`)).toBe(`/v1/courses/${courseId}`)
})
