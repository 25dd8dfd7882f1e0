import { expect } from 'vitest'
import { requireAnswering } from '../../../src/server/database/health.ts'
import { openTestAcademy, test } from '../../helpers/academy.ts'

test('/ready answers anybody while the database does', async ({ academy }) => {
  const answer = await academy.bearer(undefined).get('/ready')
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } })
})

test('without its database a server is up, but not ready', async () => {
  let isGone = false
  await using academy = await openTestAcademy({
    through: (database) => ({
      ...database,
      one: (statement) =>
        isGone ? Promise.reject(new Error('connection refused')) : database.one(statement),
    }),
  })
  isGone = true
  const anybody = academy.bearer(undefined)
  expect((await anybody.get('/health')).status).toBe(200)
  const answer = await anybody.get('/ready')
  expect(answer).toMatchObject({
    status: 503,
    body: { code: 'unavailable', detail: 'The database does not respond.' },
  })
  expect(answer.headers.get('retry-after')).toBe('1')
})

test('a database that does not answer is not waited for, nor asked again meanwhile', async () => {
  let asked = 0
  const silent = {
    one: () => {
      asked += 1
      return new Promise<never>(() => {})
    },
  }
  const refusals = Array.from({ length: 5 }, () => requireAnswering(silent, 1).catch(({ code }) => code))
  expect(new Set(await Promise.all(refusals))).toEqual(new Set(['unavailable']))
  expect(asked).toBe(1)
})

test('requests within a second share one query of the database', async () => {
  let asked = 0
  const database = {
    one: async () => {
      asked += 1
      return undefined
    },
  }
  for (let index = 0; index < 5; index += 1) await requireAnswering(database)
  expect(asked).toBe(1)
})
