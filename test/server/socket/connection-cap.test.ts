import { EventEmitter } from 'node:events'
import { createServer } from 'node:net'
import { expect } from 'vitest'
import { capConnections } from '../../../src/server/socket/port.ts'
import { test as base, openSocket, parseResponse, sendRaw } from './served.ts'

const test = base.extend('options', { connections: { whole: 10, each: 3 } })
const ask = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

test('idle connections of one address take no more than its share', async ({ served }) => {
  const idle = await Promise.all(Array.from({ length: 3 }, () => openSocket(served.port)))
  const refused = await openSocket(served.port)
  await refused.closed
  const answer = parseResponse(refused.received())
  expect(answer).toMatchObject({ status: 503, code: 'unavailable' })
  expect(answer.head).toContain('retry-after: 5')
  expect(answer.body).toContain('Too many connections from this address')
  expect(served.log.map((line) => JSON.parse(line))).toMatchObject([{ status: 503 }])
  idle[0]?.socket.destroy()
  await idle[0]?.closed
  await expect.poll(async () => (await sendRaw(served.port, ask)).status).toBe(200)
})

test('a network that has its share leaves the rest to others, and gets it back', () => {
  const server = createServer()
  const refused: unknown[] = []
  const isProxy = (address: string) => address === '10.0.0.1'
  capConnections(server, { whole: 10, each: 2 }, isProxy, ({ remoteAddress }) => refused.push(remoteAddress))
  const connect = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress })
    server.emit('connection', socket)
    return () => socket.emit('close')
  }
  const leave = connect('2001:db8::1')
  connect('2001:db8::2')
  connect('2001:db8:0:1::1')
  connect('192.0.2.1')
  connect('::ffff:192.0.2.1')
  expect(refused).toEqual([])
  const leaveRefused = connect('2001:db8::3')
  connect('192.0.2.1')
  expect(refused).toEqual(['2001:db8::3', '192.0.2.1'])
  leaveRefused()
  leave()
  connect('2001:db8::4')
  for (let count = 0; count < 3; count += 1) connect('10.0.0.1')
  expect(refused).toHaveLength(2)
})
