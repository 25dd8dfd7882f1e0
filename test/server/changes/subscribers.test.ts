import { expect } from 'vitest'
import { forgetSubscribers, hasSubscribers } from '../../../src/server/changes/event-queue.ts'
import type { Row } from '../../../src/server/database/database.ts'
import { sqliteDialect } from '../../../src/server/database/sqlite/dialect.ts'
import { test } from '../../helpers/academy.ts'

/** A time long after the changes of other tests. */
const beganMs = 1_000_000

/** A database with or without subscribers, and its queries. */
function databaseOf(answer: { isThere: boolean }) {
  const queries: unknown[] = []
  const one = async <Shape extends Row>(query: { values: unknown[] }) => {
    queries.push(query.values)
    return answer.isThere ? ({} as Shape) : undefined
  }
  return { queries, dialect: { ...sqliteDialect }, one }
}

test('the subscribers of an event are queried once a second', async () => {
  forgetSubscribers(0)
  const answer = { isThere: false }
  const database = databaseOf(answer)
  const at = (ms: number) => hasSubscribers(database, 'progress.updated', beganMs + ms)
  expect(await at(0)).toBe(false)
  answer.isThere = true
  expect(await at(999)).toBe(false)
  expect(await at(1000)).toBe(true)
  expect(await at(1999)).toBe(true)
  expect(database.queries).toEqual([
    ['*', 'progress.*', 'progress.updated'],
    ['*', 'progress.*', 'progress.updated'],
  ])
  expect(await hasSubscribers(databaseOf({ isThere: false }), 'progress.updated', beganMs + 1000)).toBe(false)
})

test('after a change of who subscribes nothing that was found before counts, nor what is being found', async () => {
  forgetSubscribers(0)
  const database = databaseOf({ isThere: false })
  expect(await hasSubscribers(database, 'course.created', beganMs)).toBe(false)
  const looking = hasSubscribers(database, 'course.updated', beganMs)
  forgetSubscribers(beganMs)
  expect(await looking).toBe(true)
  expect(await hasSubscribers(database, 'course.created', beganMs + 1)).toBe(true)
  expect(await hasSubscribers(database, 'course.updated', beganMs + 10_000)).toBe(false)
  expect(database.queries).toHaveLength(3)
  forgetSubscribers(0)
})

test('an endpoint made right after a change gets the next one', async ({ admin }) => {
  await admin.post('/v1/courses', { title: 'Logic' })
  const { body: endpoint } = await admin.post('/v1/webhooks/endpoints', {
    url: 'https://lms.example/hooks',
    events: ['course.created'],
  })
  const heard = await admin.post('/v1/courses', { title: 'Sets' })
  const { body } = await admin.get(`/v1/webhooks/messages?endpoint_id=${endpoint.id}`)
  expect(body.data).toMatchObject([{ type: 'course.created', subject: heard.body.id }])
})
