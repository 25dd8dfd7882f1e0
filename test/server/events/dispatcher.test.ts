import sql from 'sql-template-tag'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished } from 'vitest'
import { hour, minute, openTestAcademy, type Person, second, test } from '../../helpers/academy.ts'
import { accept, makeEndpoint, messagesOf, openDispatcher, startReceiver, status, waitFor } from './scene.ts'

const course = (admin: Person, title = 'Logic') => admin.post('/v1/courses', { title })
const at = { timeout: 30_000, interval: 5 }

/** Makes a course, and a function that records progress in it. */
async function progressIn(admin: Person) {
  const { body } = await course(admin)
  await admin.put(`/v1/courses/${body.id}`, { status: 'published' })
  return (learner: Person, completionPercentage: number) =>
    admin.put(`/v1/learners/${learner.id}/progress`, { courseId: body.id, completionPercentage })
}

test('an event goes out signed, and the library of Standard Webhooks verifies it', async ({
  academy,
  admin,
}) => {
  const receiver = await startReceiver()
  const { id, secret } = await makeEndpoint(admin, receiver.url)
  await course(admin)
  openDispatcher(academy, { signedAt: () => new Date() }).advance(1)
  await waitFor(admin, id).toMatchObject([
    {
      type: 'course.created',
      status: 'delivered',
      attemptCount: 1,
      lastResult: 'HTTP 204',
      nextAttemptAt: null,
    },
  ])
  const [got] = receiver.got
  const [message] = await messagesOf(admin, id)
  expect(got?.headers).toMatchObject({
    'webhook-id': message.id,
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^learnctl\//),
  })
  const headers = got?.headers as Record<string, string>
  expect(() => new Webhook(secret).verify(got?.body ?? '', headers)).not.toThrow()
  expect(() => new Webhook(secret).verify(`${got?.body} `, headers)).toThrow()
})

test('for a day after a rotation both secrets sign, and then the new one alone', async ({
  academy,
  admin,
}) => {
  const receiver = await startReceiver()
  const { id, secret } = await makeEndpoint(admin, receiver.url)
  const { body: rotated } = await admin.post(`/v1/webhooks/endpoints/${id}/rotate`)
  expect(rotated.secret).not.toBe(secret)
  const { advance } = openDispatcher(academy, { signedAt: () => new Date() })
  await course(admin)
  advance(1)
  await expect.poll(() => receiver.got.length, at).toBe(1)
  await waitFor(admin, id).toMatchObject([{ status: 'delivered' }])
  await course(admin)
  advance(25 * hour)
  await expect.poll(() => receiver.got.length, at).toBe(2)
  const verifies = (index: number, text: string) => {
    const { headers, body = '' } = receiver.got[index] ?? {}
    try {
      return Boolean(new Webhook(text).verify(body, headers as Record<string, string>))
    } catch {
      return false
    }
  }
  expect([verifies(0, secret), verifies(0, rotated.secret)]).toEqual([true, true])
  expect([verifies(1, secret), verifies(1, rotated.secret)]).toEqual([false, true])
})

test('a failed message is sent again with the same id, a new time and a new signature, ten times in all', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const receiver = await startReceiver(status(500, {}, 'no \u0000 database'))
  const { id } = await makeEndpoint(admin, receiver.url)
  await course(admin)
  const { advance } = openDispatcher(academy)
  advance(1)
  const delays = [5 * second, 5 * minute, ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * hour)]
  for (const [index, delay] of delays.entries()) {
    const due = new Date(academy.clock.now().getTime() + delay).toISOString()
    await waitFor(admin, id).toMatchObject([
      { status: 'pending', attemptCount: index + 1, lastResult: 'HTTP 500', nextAttemptAt: due },
    ])
    advance(delay)
  }
  await waitFor(admin, id).toMatchObject([{ status: 'failed', attemptCount: 10, nextAttemptAt: null }])
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(receiver.got.map(({ body }) => body)).size).toBe(1)
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-signature'])).size).toBe(10)
  const [message] = await messagesOf(admin, id)
  const { attempts } = (await admin.get(`/v1/webhooks/messages/${message.id}`)).body
  expect(attempts).toHaveLength(10)
  expect(attempts[1]).toMatchObject({
    number: 2,
    status: 500,
    result: 'HTTP 500',
    response: 'no \uFFFD database',
  })

  receiver.answer = status(200)
  expect((await admin.post(`/v1/webhooks/messages/${message.id}/resend`)).status).toBe(200)
  advance(1 * second)
  await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 11 }])
  expect((await admin.get('/v1/audit?noun=message')).body.data).toMatchObject([
    { action: 'message.resent', userId: admin.id, subjectId: message.id, before: { status: 'failed' } },
  ])
})

test('a redirect is a failure, and is not followed', async ({ academy, admin }) => {
  const inner = await startReceiver()
  const receiver = await startReceiver(status(302, { location: inner.url }))
  const { id } = await makeEndpoint(admin, receiver.url)
  await course(admin)
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toMatchObject([
    { status: 'pending', lastResult: 'HTTP 302: redirects are not followed' },
  ])
  expect(inner.got).toEqual([])
})

test('410 disables the endpoint: nothing more is sent or queued until it is set active', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const receiver = await startReceiver(status(410))
  const { id } = await makeEndpoint(admin, receiver.url)
  await course(admin)
  const { advance } = openDispatcher(academy)
  advance(1)
  await waitFor(admin, id).toMatchObject([{ status: 'failed', lastResult: 'HTTP 410: endpoint disabled' }])
  const path = `/v1/webhooks/endpoints/${id}`
  expect((await admin.get(path)).body).toMatchObject({
    status: 'disabled',
    disabledReason: 'gone',
    version: 2,
  })
  await course(admin, 'Ethics')
  expect(await admin.post(`${path}/test`)).toMatchObject({
    status: 409,
    body: {
      code: 'endpoint_disabled',
      detail: `Webhook endpoint ${receiver.url} is disabled; set it active first.`,
    },
  })
  expect(await messagesOf(admin, id)).toHaveLength(1)

  receiver.answer = status(200)
  expect((await admin.put(path, { status: 'active' })).body).toMatchObject({ disabledReason: null })
  await course(admin, 'Rhetoric')
  advance(6 * second)
  await waitFor(admin, id).toMatchObject([{ status: 'failed' }, { status: 'delivered' }])
})

test.for([
  ['429', '120', 120 * second],
  ['503', 'Sun, 01 Mar 2026 12:10:00 GMT', 10 * minute - 1],
  ['502', '999999', hour],
  ['504', 'soon', minute],
] as const)(
  '%s with Retry-After %s pauses the endpoint',
  async ([code, retryAfter, pause], { academy, admin }) => {
    const receiver = await startReceiver(status(Number(code), { 'retry-after': retryAfter }))
    const { id } = await makeEndpoint(admin, receiver.url)
    await course(admin)
    const { advance } = openDispatcher(academy)
    advance(1)
    await waitFor(admin, id).toMatchObject([{ attemptCount: 1 }])
    const until = new Date(academy.clock.now().getTime() + pause).toISOString()
    expect((await admin.get(`/v1/webhooks/endpoints/${id}`)).body).toMatchObject({ pausedUntil: until })
    await course(admin, 'Ethics')
    advance(pause - 1)
    receiver.answer = status(200)
    expect(receiver.got).toHaveLength(1)
    const sent = () => {
      advance(1)
      return receiver.got.length
    }
    await expect.poll(sent, at).toBe(3)
    await waitFor(admin, id).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
  },
)

test('a receiver that hangs, drips or breaks off delays no other, and has 15 s for an attempt', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const hanging = await startReceiver(() => {})
  const broken = await startReceiver((response) => void response.socket?.destroy())
  const dripping = await startReceiver((response) => {
    response.writeHead(200)
    response.write('.')
  })
  const well = await startReceiver()
  const endpoints = []
  for (const { url } of [hanging, broken, dripping, well]) endpoints.push(await makeEndpoint(admin, url))
  const [hung, cut, dripped, quick] = endpoints.map(({ id }) => id)
  for (let count = 0; count < 20; count += 1) await course(admin, `Course ${count}`)
  const { advance } = openDispatcher(academy)
  advance(1)
  await expect.poll(() => well.got.length, at).toBe(20)
  await waitFor(admin, quick ?? '').toSatisfy((all) =>
    all.every((message: { status: string }) => message.status === 'delivered'),
  )
  await expect.poll(() => hanging.got.length, at).toBe(8)
  await waitFor(admin, cut ?? '').toSatisfy(
    ([{ lastResult }]) => lastResult === 'Connection closed before the response',
  )
  advance(15 * second)
  await waitFor(admin, hung ?? '').toSatisfy(([{ lastResult }]) => lastResult === 'No response within 15 s')
  await waitFor(admin, dripped ?? '').toSatisfy(([message]) => message.status === 'delivered')
})

test('messages about the same learner are sent in order, and wait half an hour for a failing one', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const progress = await progressIn(admin)
  const learners = [await academy.person('learner'), await academy.person('learner')]
  const [stuck, free] = learners.map(({ id }) => id)
  const receiver = await startReceiver((response, { data }) =>
    status(data['learnerId'] === stuck && data['version'] === 1 ? 500 : 200)(response),
  )
  const { id } = await makeEndpoint(admin, receiver.url, { events: ['progress.updated'] })
  for (const completionPercentage of [10, 20, 30]) {
    for (const learner of learners) await progress(learner, completionPercentage)
  }
  const { advance } = openDispatcher(academy)
  const versions = (learner = '') =>
    receiver.got.flatMap(({ data }) => (data['learnerId'] === learner ? [data['version']] : []))
  advance(1)
  await expect.poll(() => versions(free), at).toEqual([1, 2, 3])
  for (const delay of [5 * second, 5 * minute, 30 * minute]) {
    const count = versions(stuck).length
    await waitFor(admin, id).toSatisfy(([first]) => first.attemptCount === count && first.nextAttemptAt)
    expect(versions(stuck)).toEqual(Array.from({ length: count }, () => 1))
    advance(delay)
    await expect.poll(() => versions(stuck).length, at).toBeGreaterThan(count)
  }
  await expect.poll(() => versions(stuck), at).toEqual([1, 1, 1, 1, 2, 3])
})

test('an erased learner is in no message, whether it waits, waits for another or failed', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const progress = await progressIn(admin)
  const [erased, other] = [await academy.person('learner'), await academy.person('learner')]
  const receiver = await startReceiver(status(500))
  const { id } = await makeEndpoint(admin, receiver.url, { events: ['progress.*'] })
  for (const percentage of [10, 20, 30]) await progress(erased, percentage)
  const server = openDispatcher(academy)
  server.advance(1)
  await waitFor(admin, id).toMatchObject([{ attemptCount: 1 }, { attemptCount: 0, nextAttemptAt: null }, {}])
  await server.stop()
  await progress(erased, 40)
  await progress(other, 10)
  expect(await messagesOf(admin, id)).toHaveLength(5)
  expect((await admin.delete(`/v1/users/${erased.id}?erase=true`)).status).toBe(204)
  expect(await messagesOf(admin, id)).toMatchObject([{ subject: other.id }])
})

test('a message that waits for a deleted one is sent within an hour', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const { body } = await course(admin)
  const receiver = await startReceiver((response, { type }) =>
    status(type === 'course.updated' ? 500 : 200)(response),
  )
  const { id } = await makeEndpoint(admin, receiver.url)
  await admin.put(`/v1/courses/${body.id}`, { title: 'Ethics' })
  await admin.put(`/v1/courses/${body.id}`, { status: 'published' })
  const { advance } = openDispatcher(academy)
  advance(1)
  await waitFor(admin, id).toMatchObject([{ attemptCount: 1 }, { attemptCount: 0, nextAttemptAt: null }])
  // As sweeping ends them after a week, when the endpoint was disabled for long.
  await academy.database.run(sql`delete from webhook_messages where type = 'course.updated'`)
  advance(hour)
  await waitFor(admin, id).toMatchObject([{ type: 'course.published', status: 'delivered' }])
})

test('a server that stops sends nothing new, and leaves what is under way to the next one', async ({
  academy,
  admin,
}) => {
  const receiver = await startReceiver(() => {})
  const { id } = await makeEndpoint(admin, receiver.url)
  await course(admin)
  const first = openDispatcher(academy)
  first.advance(1)
  await expect.poll(() => receiver.got.length, at).toBe(1)
  const stopped = first.stop()
  first.advance(5 * second)
  await stopped
  expect(await messagesOf(admin, id)).toMatchObject([{ status: 'pending', attemptCount: 0 }])
  receiver.answer = status(200)
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 1 }])
  expect(receiver.got.map(({ headers }) => headers['webhook-id'])).toEqual([
    receiver.got[0]?.headers['webhook-id'],
    receiver.got[0]?.headers['webhook-id'],
  ])
})

test('messages of a killed server are sent by another one a minute later, all others at once', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const receiver = await startReceiver(() => {})
  const { id } = await makeEndpoint(admin, receiver.url)
  for (let count = 0; count < 10; count += 1) await course(admin, `Course ${count}`)
  // It is not stopped before the other one starts, and its later results do not count.
  const killed = openDispatcher(academy, { later: () => ({ clear: () => {} }) })
  killed.wake()
  await expect.poll(() => receiver.got.length, at).toBe(8)
  receiver.answer = status(200)
  const { advance } = openDispatcher(academy)
  advance(1)
  await waitFor(admin, id).toSatisfy(
    (all) => all.filter((message: { status: string }) => message.status === 'delivered').length === 2,
  )
  advance(minute)
  await waitFor(admin, id).toSatisfy((all) =>
    all.every((message: { status: string }) => message.status === 'delivered'),
  )
  expect(receiver.got).toHaveLength(18)
})

test('several servers on one database send each event once', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const receiver = await startReceiver()
  const { id } = await makeEndpoint(admin, receiver.url)
  const others = [await openTestAcademy({ beside: academy }), await openTestAcademy({ beside: academy })]
  const servers = [academy, ...others].map((each) => openDispatcher({ ...each, sealing: academy.sealing }))
  onTestFinished(async () => {
    for (const { stop } of servers) await stop()
    for (const other of others) await other.close()
  })
  for (let count = 0; count < 60; count += 1) {
    await course(admin, `Course ${count}`)
    for (const { wake } of servers) wake()
  }
  for (const { advance } of servers) advance(1)
  // PostgreSQL may cancel a round; the next one would start a second later by a clock that stands still here.
  const delivered = async () => {
    for (const { wake } of servers) wake()
    return (await messagesOf(admin, id)).filter(
      (message: { status: string }) => message.status === 'delivered',
    )
  }
  await expect.poll(delivered, { timeout: 60_000, interval: 100 }).toHaveLength(60)
  expect(receiver.got).toHaveLength(60)
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(60)
})

test('where its secret cannot be opened, nothing is sent unsigned', async ({ academy, admin }) => {
  const receiver = await startReceiver()
  const { id } = await makeEndpoint(admin, receiver.url)
  await course(admin)
  const sealing = {
    ...academy.sealing,
    open: () => {
      throw new Error('the key is missing')
    },
  }
  openDispatcher(academy, { sealing }).advance(1)
  await waitFor(admin, id).toMatchObject([
    { status: 'pending', lastResult: 'Cannot be signed: the key is missing' },
  ])
  expect(receiver.got).toEqual([])
})

test('a token in the query of a URL is sent, and shown nowhere', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const receiver = await startReceiver((response, { url }) => void response.writeHead(400).end(`no ${url}`))
  const made = await makeEndpoint(admin, `${receiver.url}?token=pear-4711`)
  const path = `/v1/webhooks/endpoints/${made.id}`
  expect(made.url).toBe(`${receiver.url}?...`)
  const { advance } = openDispatcher(academy)
  await course(admin)
  advance(1)
  await waitFor(admin, made.id).toMatchObject([{ lastResult: 'HTTP 400' }])
  await admin.put(path, { url: made.url, description: 'Logs' })
  await admin.post(`${path}/rotate`)
  receiver.answer = accept
  await course(admin)
  advance(hour)
  await waitFor(admin, made.id).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
  expect(new Set(receiver.got.map(({ url }) => url))).toEqual(new Set(['/hooks?token=pear-4711']))
  const shown = [path, '/v1/webhooks/messages?include=attempts', '/v1/audit', `/v1/changes`]
  for (const each of shown) expect(JSON.stringify((await admin.get(each)).body), each).not.toContain('pear')
  const [failed] = await messagesOf(admin, made.id)
  const { body: message } = await admin.get(`/v1/webhooks/messages/${failed.id}`)
  expect(message.attempts[0].response).toBe('no /hooks?token=***')
  expect((await admin.put(path, { url: 'https://other.example/?...' })).status).toBe(422)

  expect((await admin.put(path, { url: `${receiver.url}?key=plum-0815` })).body.url).toBe(
    `${receiver.url}?...`,
  )
  await course(admin)
  advance(second)
  await expect.poll(() => receiver.got.at(-1)?.url, at).toBe('/hooks?key=plum-0815')
})
