import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import { openAcademy } from '../../../src/server/academy/local-academy.ts'
import type { CapturedEvent } from '../../../src/server/changes/event-queue.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'

/** Opens an academy in a new file; returns a client of it, and the transactions whose events it passed on. */
async function openCaptured() {
  const { path: directory, remove } = freshDirectory()
  const path = join(directory, 'academy.db')
  await putNewAcademy(path)
  const captured: (readonly CapturedEvent[])[] = []
  const academy = await openAcademy({ path, onEvents: (events) => captured.push(events) })
  const client = createClient({ baseUrl: 'http://localhost', transport: academy.transport, env: {} })
  onTestFinished(async () => {
    await client.close()
    await academy.close()
    remove()
  })
  return { client, captured, types: () => captured.map((events) => events.map(({ type }) => type)) }
}

test('events are passed on by transaction, in the order of the changes; reads and refusals have none', async () => {
  const { client, types } = await openCaptured()
  const course = await client.courses.create({ title: 'Tides' })
  await client.courses.list()
  await client.courses.create({ title: '' }).catch(() => {})
  await client.courses.update(course.id, { title: 'The tides', status: 'published' })
  expect(types()).toEqual([['course.created'], ['course.updated', 'course.published']])
})

test('an item of a batch that is rolled back leaves no event', async () => {
  const { client, captured, types } = await openCaptured()
  const course = await client.courses.create({ title: 'Tides' })
  const user = await client.users.create({ email: 'ada@example.org' })
  await client.enrollments.create({ courseId: course.id, userId: user.id })
  const { results } = await client.progress.batch({
    items: [
      { learnerId: user.id, courseId: course.id, completionPercentage: 40 },
      { learnerId: 'none', courseId: course.id, completionPercentage: 50 },
      { learnerId: user.id, courseId: course.id, completionPercentage: 100 },
    ],
  })
  expect(results.map(({ status }) => status)).toEqual([201, 404, 200])
  expect(types().slice(3).flat()).toEqual(
    expect.arrayContaining(['progress.updated', 'progress.completed', 'enrollment.completed']),
  )
  expect(captured.flat().filter(({ type }) => type.startsWith('progress.'))).toMatchObject([
    { data: { completionPercentage: 40 } },
    { data: { completionPercentage: 100 } },
    { data: { completionPercentage: 100 } },
  ])
})

test('a plan that is carried out passes on its events, and one that is tried none', async () => {
  const { client, types } = await openCaptured()
  const { id } = await client.plans.create({ command: 'apply' })
  const record = { externalId: 'sea', title: 'Sea' }
  await client.plans.addSteps(id, '0', { steps: [{ noun: 'course', action: 'create', record }] })
  await client.plans.carryOut(id, { isTrial: true })
  await client.plans.carryOut(id, {})
  expect(types()).toEqual([['course.created']])
})

test('an endpoint that subscribes gets the event as it would without', async () => {
  const { client, captured } = await openCaptured()
  await client.endpoints.create({ url: 'https://lms.example.org/hooks', events: ['course.*'] })
  await client.courses.create({ title: 'Tides' })
  const { data } = await client.messages.list()
  expect(data).toHaveLength(1)
  const [message] = data
  const { body } = await client.messages.get(message?.id ?? '')
  expect(captured.flat()).toMatchObject([{ type: 'course.created', body }])
  expect(captured.flat()[0]?.id.slice(0, -4)).toBe(message?.id.slice(0, -4))
})
