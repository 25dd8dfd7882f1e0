import { expect, onTestFinished, test as plain } from 'vitest'
import { eventTypes } from '../../../src/contract/actions.ts'
import { eventFields } from '../../../src/server/changes/event-queue.ts'
import { heldAttempts, retryDelaysMs } from '../../../src/server/events/messages.ts'
import { textOf } from '../../docs.ts'
import { test } from '../../helpers/academy.ts'
import { root, startProcess } from '../../helpers/process.ts'
import { makeEndpoint, openDispatcher, waitFor } from './scene.ts'

const page = textOf('docs/webhooks.md')

plain('docs/webhooks.md has every event with its fields', () => {
  const rows = [...page.matchAll(/^\| (`\w+\.\w+`.*?) \| (.*?) \|$/gm)].map((row) =>
    row.slice(1).map((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name)),
  )
  expect(rows.flatMap(([events = []]) => events)).toEqual(eventTypes)
  const documented = rows.map(([events = [], fields]) => [events[0]?.split('.')[0], fields])
  expect(Object.fromEntries(documented)).toEqual(eventFields)
})

plain('docs/webhooks.md has the schedule of attempts', () => {
  const units = { s: 1000, min: 60_000, h: 3_600_000 }
  const [, list = ''] = /retried after ([^;]*?), each with/s.exec(page) ?? []
  const documented = [...list.matchAll(/(\d+) (s|min|h)\b/g)].map(
    ([, count, unit]) => Number(count) * units[unit as keyof typeof units],
  )
  expect(documented).toEqual(retryDelaysMs)
  expect(page).toContain(`its first ${heldAttempts} attempts`)
})

test('the receiver in docs/webhooks.md takes what is signed, and nothing else', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const [, code = ''] = /```js\n(\/\/ receiver\.mjs[\s\S]*?)```/.exec(page) ?? []
  const { id, secret } = await makeEndpoint(admin, 'http://127.0.0.1:9/')
  const telling = `${code}\nserver.once('listening', () => console.log(server.address().port))`
  const { printed, kill } = startProcess(process.execPath, ['--input-type=module', '--eval', telling], {
    cwd: root,
    env: { WEBHOOK_SECRET: secret, PORT: '0' },
  })
  onTestFinished(() => kill())
  const [, port] = await printed(/^(\d+)\n/)
  const url = `http://127.0.0.1:${port}/`
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
  await admin.put(`/v1/webhooks/endpoints/${id}`, { url })
  await admin.post('/v1/courses', { title: 'Logic' })
  openDispatcher(academy, { signedAt: () => new Date() }).advance(1)
  await waitFor(admin, id).toMatchObject([{ status: 'delivered', lastResult: 'HTTP 204' }])
})
