import { Webhook } from 'svix'
import { expect, test } from 'vitest'
import { fixedKeys } from '../../src/lms/canvas-signature.ts'
import { sign, verify } from '../../src/lms/verify.ts'
import { sample } from '../lms/samples.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const svix = new Webhook(secret)

test('a delivery that svix signs is authentic', async () => {
  const now = Date.parse('2026-01-05T10:00:00.000Z')
  const text = JSON.stringify(sample('standard.grade_updated.composed'))
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(now / 1000),
    'webhook-signature': svix.sign('msg_1', new Date(now), text),
  }
  const delivery = (body: string) => ({ headers, query: new URLSearchParams(), rawBody: Buffer.from(body) })
  const trust = { secrets: [secret], rootAccountUuid: '', keys: fixedKeys('{"keys":[]}'), now }
  await expect(verify('standard', delivery(text), trust)).resolves.not.toThrow()
  await expect(verify('standard', delivery(`${text} `), trust)).rejects.toThrow()
})

test('a delivery that is signed here is authentic to svix', async () => {
  // svix compares with the clock of the machine.
  const payload = sample('standard.grade_updated.composed')
  const { headers, body } = await sign('standard', payload, { secret, now: Date.now(), id: 'msg_1' })
  expect(() => svix.verify(body, headers)).not.toThrow()
  expect(() => svix.verify(`${body} `, headers)).toThrow()
})
