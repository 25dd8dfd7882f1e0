import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createAddressGuard } from '../../../src/server/outgoing/address-guard.ts'
import type { Resolve } from '../../../src/server/outgoing/guarded-client.ts'
import { createOutgoing, type OutgoingRequest } from '../../../src/server/outgoing/outgoing.ts'
import { listen } from '../../helpers/listen.ts'

async function served(listener: RequestListener): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  const { port, close } = await listen(server)
  onTestFinished(close)
  return { port, seen }
}

const asking = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 10_000,
  maximumBytes: 1000,
  ...more,
})
const near = { loopback: true }
const far = { loopback: false }

/** Resolves a host to these addresses in turn. */
function turning(...answers: string[][]): Resolve {
  return (_, __, done) => {
    const found = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    const all = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    done(null, all)
  }
}

test.for([
  ...['127.0.0.1', '127.8.9.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
  ...['100.64.0.1', '0.0.0.0', '192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1'],
  ...['64:ff9b::7f00:1', '2001:db8::1', '2002:7f00:1::', '2001:0:1::', '', 'localhost', '1.2.3'],
])('%s is no public address', (address) => {
  expect(createAddressGuard(far).allowsAddress(address)).toBe(false)
})

test.for(['93.184.216.34', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'])(
  '%s is a public address',
  (address) => {
    expect(createAddressGuard(far).allowsAddress(address)).toBe(true)
  },
)

test('networks and hosts that are named are let through, and no others', () => {
  const guard = createAddressGuard({
    allow: ['10.1.0.0/16', 'fd12::/16', 'Moodle.School.example'],
    loopback: false,
  })
  expect(guard.allowsAddress('10.1.2.3')).toBe(true)
  expect(guard.allowsAddress('10.2.2.3')).toBe(false)
  expect(guard.allowsAddress('fd12::5')).toBe(true)
  expect(guard.allowsHost('moodle.school.example')).toBe(true)
  expect(guard.allowsHost('canvas.school.example')).toBe(false)
})

test('a request and its answer arrive as they were sent', async () => {
  const { port } = await served(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    response.writeHead(207, { 'x-own': request.headers['x-own'] }).end(Buffer.concat(pieces))
  })
  const answer = await createOutgoing(near)(
    asking(`http://127.0.0.1:${port}/in?q=1`, { method: 'POST', body: 'grüße', headers: { 'x-own': 'yes' } }),
  )
  expect(answer).toMatchObject({ status: 207, isCut: false, headers: { 'x-own': 'yes' } })
  expect(answer.body.toString()).toBe('grüße')
})

test('a redirect is reported, not followed', async () => {
  const { port, seen } = await served((_, response) => response.writeHead(302, { location: '/other' }).end())
  expect(await createOutgoing(near)(asking(`http://127.0.0.1:${port}/`))).toMatchObject({
    status: 302,
    headers: { location: '/other' },
  })
  expect(seen).toEqual(['GET /'])
})

test('no more of an answer is read than was asked for', async () => {
  const { port } = await served((_, response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    }
    response.on('drain', pour)
    pour()
  })
  const { body, isCut } = await createOutgoing(near)(asking(`http://127.0.0.1:${port}/`))
  expect(body).toHaveLength(1000)
  expect(isCut).toBe(true)
})

test.for([
  ['never answers', (() => {}) satisfies RequestListener],
  ['never ends', ((_, response) => response.write('x')) satisfies RequestListener],
] as [string, RequestListener][])('one who %s is not waited for', async ([, listener]) => {
  const { port } = await served(listener)
  await expect(
    createOutgoing(near)(asking(`http://127.0.0.1:${port}/`, { timeoutMs: 20 })),
  ).rejects.toMatchObject({ trouble: 'timeout', message: '127.0.0.1 did not answer within 0.02 s' })
})

test.for(['127.0.0.1', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '169.254.169.254', '127.1'])(
  'nothing is sent to https://%s',
  async (host) => {
    await expect(createOutgoing(far)(asking(`https://${host}:1/`))).rejects.toMatchObject({
      trouble: 'forbidden_address',
    })
  },
)

test('a name that leads to this machine leads nowhere, also where it did not at the first look', async () => {
  const { port, seen } = await served((_, response) => response.end())
  // The first lookup is the check of the name.
  const lookup = turning(['93.184.216.34'], ['127.0.0.1'])
  await new Promise((done) => lookup('rebind.example', { all: true }, done))
  await expect(createOutgoing(far, lookup)(asking(`https://rebind.example:${port}/`))).rejects.toMatchObject({
    trouble: 'forbidden_address',
    message: 'rebind.example is not a public address',
  })
  expect(seen).toEqual([])
})

test('only the allowed of several addresses are connected to', async () => {
  const { port, seen } = await served((_, response) => response.end())
  const mixed = createOutgoing(
    { allow: ['127.0.0.0/8'], loopback: false },
    turning(['10.0.0.1', '127.0.0.1', '::1']),
  )
  expect((await mixed(asking(`http://moodle.example:${port}/`))).status).toBe(200)
  expect(seen).toHaveLength(1)
})

test('plain http goes to this machine and to what was named, not into the open', async () => {
  const { port, seen } = await served((_, response) => response.end())
  const open = createOutgoing(near, turning(['93.184.216.34']))
  await expect(open(asking('http://moodle.example/'))).rejects.toMatchObject({ trouble: 'unencrypted' })
  await expect(open(asking('http://93.184.216.34/'))).rejects.toMatchObject({ trouble: 'unencrypted' })
  const named = createOutgoing({ allow: ['moodle.example'], loopback: false }, turning(['127.0.0.1']))
  expect((await named(asking(`http://moodle.example:${port}/`))).status).toBe(200)
  expect(seen).toHaveLength(1)
})

test('a host that cannot be reached is named', async () => {
  const { port } = await served((request) => request.socket.destroy())
  await expect(createOutgoing(near)(asking(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
    trouble: 'broken',
  })
  await expect(createOutgoing(near)(asking(`https://127.0.0.1:${port}/`))).rejects.toMatchObject({
    message: expect.stringMatching(/^127\.0\.0\.1 broke off|certificate/),
  })
  await expect(createOutgoing(near)(asking('http://127.0.0.1:1/'))).rejects.toMatchObject({
    trouble: 'unreachable',
    message: 'cannot connect to 127.0.0.1: ECONNREFUSED',
  })
  const nobody: Resolve = (host, _, done) => done(Object.assign(new Error(host), { code: 'ENOTFOUND' }), [])
  await expect(createOutgoing(far, nobody)(asking('https://none.example/'))).rejects.toMatchObject({
    message: 'host none.example not found',
  })
})
