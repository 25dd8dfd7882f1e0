import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../src/server/socket/serve.ts'
import { freshDirectory, passwordCost } from '../../helpers/academy.ts'
import { startReceiver } from './scene.ts'

test('a served academy sends what happens as soon as it is committed', { tags: ['slow'] }, async () => {
  const directory = freshDirectory()
  onTestFinished(() => directory.remove())
  const options = {
    ...{
      path: join(directory.path, 'academy.db'),
      host: '127.0.0.1',
      port: 0,
      allowHosts: [],
      corsOrigins: [],
    },
    ...{ publicUrl: undefined, perMinute: 0, passwordCost, adminKey: true, writeLog: () => undefined },
  }
  const receiver = await startReceiver()
  const post = async (
    { url, firstKey = '' }: { url: string; firstKey?: string | undefined },
    path: string,
    body: object,
  ) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(201)
  }
  const server = await serve(options)
  await post(server, '/v1/webhooks/endpoints', { url: receiver.url })
  await post(server, '/v1/courses', { title: 'Logic' })
  await expect.poll(() => receiver.got.map(({ data }) => data['title'])).toEqual(['Logic'])
  await server.stop()
})
