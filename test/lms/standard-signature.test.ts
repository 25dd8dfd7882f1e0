import { expect, test } from 'vitest'
import { verify } from '../../src/lms/verify.ts'
import { sampleText } from './samples.ts'

interface Vector {
  readonly secret: string
  readonly body: string
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

test('the test vector of Standard Webhooks is authentic', async () => {
  const [vector] = JSON.parse(sampleText('standard_webhooks')) as Vector[]
  const { secret = '', body = '', ...headers } = vector ?? {}
  const verified = await verify(
    'standard',
    { headers, query: new URLSearchParams(), rawBody: Buffer.from(body) },
    { secrets: [secret], rootAccountUuid: null, keys: null, now: 1614265330_000 },
  )
  expect(verified).toEqual({
    key: 'webhook-id:msg_p5jXN8AQM9LWM0D4loKWxJek',
    body: { test: 2432232314 },
  })
})
