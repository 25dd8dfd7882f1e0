import { expect } from 'vitest'
import { test } from '../socket/served.ts'
import { startReceiver } from './scene.ts'

test('a served academy sends what happens as soon as it is committed', { tags: ['slow'] }, async ({
  served,
}) => {
  const receiver = await startReceiver()
  for (const [path, body] of [
    ['/v1/webhooks/endpoints', { url: receiver.url }],
    ['/v1/courses', { title: 'Logic' }],
  ] as const) {
    const headers = { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' }
    expect((await served.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(
      201,
    )
  }
  await expect.poll(() => receiver.got.map(({ data }) => data['title'])).toEqual(['Logic'])
})
