import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { maxQueued, queueRequests } from '../../../src/server/socket/port.ts'
import { openSocket, test } from './served.ts'

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const last = request('/last', 'Connection: close\r\n')
const numbered = (count: number) => Array.from({ length: count }, (_, index) => request(`/${index}`)).join('')

/** A server whose requests the test answers one by one. */
async function listening() {
  const asked: string[] = []
  const answers: ServerResponse[] = []
  let overruns = 0
  const server = createServer(
    queueRequests(
      ({ url = '' }, outgoing) => {
        asked.push(url)
        answers.push(outgoing)
      },
      () => {
        overruns += 1
      },
    ),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { port, asked, answers, overruns: () => overruns }
}

test('a request that is sent ahead begins when the one before it is answered', async () => {
  const { port, asked, answers } = await listening()
  const { socket, closed, received } = await openSocket(port)
  socket.write(request('/1') + request('/2') + last)
  await expect.poll(() => asked).toEqual(['/1'])
  for (const next of ['/2', '/last']) {
    await setImmediate()
    expect(asked).not.toContain(next)
    answers.at(-1)?.end(next)
    await expect.poll(() => asked).toContain(next)
  }
  answers.at(-1)?.end('done')
  await closed
  expect(received()).toMatch(/\/2.*\/last.*done/s)
})

test('between two of them it is the turn of another connection', { tags: ['slow'] }, async () => {
  const { port, asked, answers } = await listening()
  const [many, one] = [await openSocket(port), await openSocket(port)]
  many.socket.write(numbered(maxQueued) + last)
  await expect.poll(() => asked).toEqual(['/0'])
  one.socket.write(request('/one'))
  await expect.poll(() => asked).toEqual(['/0', '/one'])
  for (let index = 0; index < maxQueued + 2; index += 1) {
    await expect.poll(() => answers.length, { interval: 1 }).toBeGreaterThan(index)
    answers[index]?.end()
  }
  await many.closed
  expect(many.received().match(/HTTP\/1\.1 200/g)).toHaveLength(maxQueued + 1)
  one.socket.destroy()
})

test('a connection with too many of them is closed', async () => {
  const { port, asked, overruns } = await listening()
  const { socket, closed, received } = await openSocket(port)
  socket.write(numbered(maxQueued * 5))
  await closed
  expect([asked, received(), overruns()]).toEqual([['/0'], '', 1])
})

test('a client that sends too many ahead is in the log', async ({ served }) => {
  const { socket, closed } = await openSocket(served.port)
  socket.write(request('/health').repeat(maxQueued * 2))
  await closed
  const entries = () => served.log.map((line) => JSON.parse(line))
  await expect.poll(entries).toContainEqual(expect.objectContaining({ status: 503, code: 'unavailable' }))
})
