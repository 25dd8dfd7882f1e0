import type { LookupAddress } from 'node:dns'
import { expect, test } from 'vitest'
import { openSender } from '../../../src/server/events/delivery.ts'
import { type Resolve, targetsOf } from '../../../src/server/outgoing/guarded-client.ts'
import { startReceiver } from './scene.ts'

const strict = targetsOf({ allow: [], loopback: false })
const refusal = (url: string, targets = strict) => targets.refusalOf(new URL(url))

test('public addresses are sent to by https alone, names as they resolve', () => {
  expect(refusal('https://93.184.215.14')).toBeUndefined()
  expect(refusal('https://[2606:2800:21f::1]')).toBeUndefined()
  expect(refusal('http://93.184.215.14')).toBe('93.184.215.14 requires https')
  expect(refusal('https://lms.example.org')).toBeUndefined()
  expect(strict.refusalAt('https:', 'lms.example.org', '10.0.0.7')).toBe('10.0.0.7 is not a public address')
  expect(strict.refusalAt('http:', 'lms.example.org', '93.184.215.14')).toBe('lms.example.org requires https')
})

test('the loopback is allowed by itself, hosts and networks where they are named, by http, too', () => {
  const own = targetsOf({ allow: [], loopback: true })
  expect(refusal('http://127.0.0.1:8080', own)).toBeUndefined()
  expect(refusal('http://[::1]:8080', own)).toBeUndefined()
  expect(refusal('http://0.0.0.0', own)).toBe('0.0.0.0 is not a public address')
  expect(refusal('http://10.1.2.3', own)).toBe('10.1.2.3 is not a public address')
  const more = targetsOf({ allow: ['10.1.0.0/16', 'fd00::7', 'LMS.internal'], loopback: false })
  expect(refusal('http://10.1.2.3', more)).toBeUndefined()
  expect(refusal('http://10.2.2.3', more)).toBe('10.2.2.3 is not a public address')
  expect(refusal('http://[fd00::7]', more)).toBeUndefined()
  expect(more.refusalAt('http:', 'lms.internal', '192.168.7.7')).toBeUndefined()
  expect(more.refusalAt('http:', 'other.internal', '192.168.7.7')).toBe('192.168.7.7 is not a public address')
})

/** Resolves a host to other addresses each time. */
function resolving(...answers: LookupAddress[][]): Resolve {
  return (_, __, callback) => callback(null, answers.shift() ?? [])
}
const signal = new AbortController().signal
const sending = (url: string) => ({ url, headers: {}, body: '{}', signal })
const local: LookupAddress = { address: '127.0.0.1', family: 4 }

test('a host is judged by the address of each connection', async () => {
  const receiver = await startReceiver()
  const url = receiver.url.replace('127.0.0.1', 'lms.example.org')
  const targets = targetsOf({ allow: ['127.0.0.1'], loopback: false })
  const sender = openSender(targets, undefined, resolving([local], [{ address: '10.0.0.7', family: 4 }]))
  expect(await sender.send(sending(url))).toMatchObject({ status: 204 })
  // Another port needs another connection and another lookup.
  await expect(sender.send(sending(url.replace(/:\d+/, ':9')))).rejects.toThrow(
    '10.0.0.7 is not a public address',
  )
  await sender.close()
})

test('no proxy of the environment is used: its connections could not be checked', async () => {
  const proxy = await startReceiver()
  const receiver = await startReceiver()
  const before = process.env['HTTP_PROXY']
  process.env['HTTP_PROXY'] = proxy.url
  const sender = openSender(targetsOf({ allow: [], loopback: true }))
  try {
    expect(await sender.send(sending(receiver.url))).toMatchObject({ status: 204 })
  } finally {
    if (before === undefined) delete process.env['HTTP_PROXY']
    else process.env['HTTP_PROXY'] = before
    await sender.close()
  }
  expect([proxy.got.length, receiver.got.length]).toEqual([0, 1])
})

test('the first 32 KiB of a response are read', async () => {
  const receiver = await startReceiver((response) => {
    response.writeHead(200)
    const more = () => response.write('x'.repeat(1024)) && setImmediate(more)
    more()
  })
  const sender = openSender(targetsOf({ allow: [], loopback: true }))
  const { response } = await sender.send(sending(receiver.url))
  expect(response).toBe('x'.repeat(32_768))
  await sender.close()
})
