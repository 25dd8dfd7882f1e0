import { expect } from 'vitest'
import { idMaker } from '../../src/server/database/id.ts'
import { queueDigests } from '../../src/server/digests.ts'
import { nextDigestAt } from '../../src/server/events/chat-message.ts'
import { hour, type Person, type TestAcademy, test } from '../helpers/academy.ts'
import { startSlack } from '../helpers/fake-slack.ts'
import { makeEndpoint, messagesOf, openDispatcher, waitFor } from './events/scene.ts'

const day = 24 * hour

/** Queues the digests that are due, as a server does about every minute. */
function queueDue({ database, clock }: TestAcademy): Promise<void> {
  return queueDigests({ database, now: clock.now(), newId: idMaker(clock.now) })
}

/** Makes a published course with learners, who have never been there. */
async function courseWith(admin: Person, title: string, names: readonly string[]) {
  const { body: course } = await admin.post('/v1/courses', { title })
  await admin.put(`/v1/courses/${course.id}`, { status: 'published' })
  const ids: string[] = []
  for (const firstName of names) {
    const { body } = await admin.post('/v1/users', {
      email: `${firstName}@school.example`,
      profile: { firstName },
    })
    await admin.post('/v1/enrollments', { courseId: course.id, userId: body.id })
    ids.push(body.id)
  }
  return { id: course.id as string, learners: ids }
}

const daily = { schedule: 'daily', digestHour: 8, digestTimezone: 'Europe/Vienna' }

test('a digest tells once a day what happened, from whichever server', async ({ academy, admin }) => {
  const slack = await startSlack()
  const { id } = await makeEndpoint(admin, slack.url, { kind: 'slack', chat: daily })
  const { id: courseId, learners } = await courseWith(admin, 'Logic', ['Ada', 'Bea'])
  await courseWith(admin, 'Ethics', [])
  await admin.put(`/v1/learners/${learners[0]}/progress`, { courseId, completionPercentage: 100 })
  await queueDue(academy)
  expect(await messagesOf(admin, id)).toEqual([])
  // 08:30 in Vienna.
  academy.clock.advance(19.5 * hour)
  await Promise.all([queueDue(academy), queueDue(academy), queueDue(academy)])
  const { advance } = openDispatcher(academy)
  advance(1)
  await waitFor(admin, id).toMatchObject([{ type: 'endpoint.digest', status: 'delivered' }])
  expect(slack.messages.map(({ text }) => text)).toEqual([
    'Digest of 2 March 2026\nLogic: 2 enrolled, 1 completed',
  ])
  advance(day)
  await queueDue(academy)
  expect(await messagesOf(admin, id)).toHaveLength(1)
})

test('a digest of learners at risk has only counts, unless names are wanted', async ({ academy, admin }) => {
  const slack = await startSlack()
  const { id: courseId } = await courseWith(admin, 'Logic', ['Ada', 'Bea', 'Cleo', 'Dora', 'Eve', 'Fay'])
  await courseWith(admin, 'Ethics', ['Gil'])
  const chat = { ...daily, atRiskOnly: true, courseIds: [courseId] }
  const silent = await makeEndpoint(admin, slack.url, { kind: 'slack', chat })
  academy.clock.advance(20 * hour)
  await queueDue(academy)
  expect(await messagesOf(admin, silent.id)).toEqual([])
  const named = await makeEndpoint(admin, slack.url, { kind: 'slack', chat: { ...chat, learnerNames: true } })
  academy.clock.advance(15 * day)
  await queueDue(academy)
  openDispatcher(academy).advance(1)
  for (const { id } of [silent, named]) await waitFor(admin, id).toMatchObject([{ status: 'delivered' }])
  expect(slack.messages.map(({ text }) => text.split('\n').slice(1)).sort()).toEqual([
    ['Logic: needs attention: 6 inactive'],
    ['Logic: needs attention: 6 inactive (Ada, Bea, Cleo, Dora, Eve)'],
  ])
  const bodies = []
  for (const { id } of [silent, named]) {
    const [message] = await messagesOf(admin, id)
    bodies.push((await admin.get(`/v1/webhooks/messages/${message.id}`)).body.body)
  }
  expect(bodies.join()).not.toContain('Ada')
  expect(bodies[0]).not.toContain('usr_')
})

test('a disabled endpoint gets no digest; a new hour counts at once', async ({ academy, admin }) => {
  const slack = await startSlack()
  const { id } = await makeEndpoint(admin, slack.url, { kind: 'slack', chat: daily, status: 'disabled' })
  await courseWith(admin, 'Logic', ['Ada'])
  academy.clock.advance(day)
  await queueDue(academy)
  expect(await messagesOf(admin, id)).toEqual([])
  await admin.put(`/v1/webhooks/endpoints/${id}`, { status: 'active', chat: { digestHour: 23 } })
  await courseWith(admin, 'Ethics', ['Bea'])
  await queueDue(academy)
  expect(await messagesOf(admin, id)).toEqual([])
  academy.clock.advance(10 * hour)
  await queueDue(academy)
  expect(await messagesOf(admin, id)).toMatchObject([{ type: 'endpoint.digest' }])
})

test('the hour of a digest is that of its time zone, also when clocks change', () => {
  const next = (now: string, digestHour = 8) =>
    nextDigestAt({ digestHour, digestTimezone: 'Europe/Vienna' }, new Date(now))
  expect(next('2026-03-27T12:00:00Z')).toBe('2026-03-28T07:00:00.000Z')
  expect(next('2026-03-28T12:00:00Z')).toBe('2026-03-29T06:00:00.000Z')
  expect(next('2026-03-29T05:59:59Z')).toBe('2026-03-29T06:00:00.000Z')
  expect(next('2026-03-29T06:00:00Z')).toBe('2026-03-30T06:00:00.000Z')
  expect(next('2026-10-25T12:00:00Z', 2)).toBe('2026-10-26T01:00:00.000Z')
})
