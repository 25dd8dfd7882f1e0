import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { sign } from '../../src/lms/verify.ts'
import { start } from '../helpers/academy.ts'
import { webhookSecret } from '../helpers/lms.ts'
import type { Served } from '../server/socket/served.ts'

const longId = 'block-v1:School+BIO101+2026T1+type@problem+block@8e6a1c0b2d3f4a5b6c7d8e9f0a1b2c3d'

/**
 * Connects an academy with other systems: deliveries with each outcome, a message that was refused once, and entries of
 * the audit log, one of them erased.
 */
export async function connectSystems(
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
  const receiver = createServer((request, answer) => {
    request.resume()
    answer.writeHead(500).end(`a long response ${'x'.repeat(400)}`)
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')

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

  const { port } = receiver.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/a/long/path/to/the/receiver/of/all/events`
  const { id: endpointId } = await send('/v1/webhooks/endpoints', 'POST', { url, events: ['lesson.*'] })
  const { id: messageId } = await send(`/v1/webhooks/endpoints/${endpointId}/test`, 'POST', {})
  await expect
    .poll(async () => (await send(`/v1/webhooks/messages/${messageId}`)).attemptCount, {
      interval: 20,
    })
    .toBe(1)
  receiver.closeAllConnections()
  receiver.close()

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
