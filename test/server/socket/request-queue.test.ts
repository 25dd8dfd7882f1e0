import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import type { HttpResponse } from '../../../src/contract/http.ts'
import { idMaker } from '../../../src/server/database/id.ts'
import { Port } from '../../../src/server/socket/port.ts'
import { openSocket, test } from './served.ts'

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const last = request('/last', 'Connection: close\r\n')

/** A port whose requests the test answers one by one. */
async function listening() {
  const asked: string[] = []
  const answers: ((body: string) => void)[] = []
  const options = { host: '127.0.0.1', port: 0, allowHosts: [], publicUrl: undefined, corsOrigins: [] }
  const now = () => new Date()
  const port = new Port(options, { now, newId: idMaker(now), log: () => {} })
  port.answerWith(({ url }) => {
    asked.push(new URL(url).pathname)
    return new Promise<HttpResponse>((resolve) => {
      answers.push((body) => resolve({ status: 200, headers: {}, body }))
    })
  })
  await port.listen()
  onTestFinished(() => port.abort())
  return { port: Number(new URL(port.url).port), asked, answers }
}

test('a request that is sent ahead begins when the one before it is answered', async () => {
  const { port, asked, answers } = await listening()
  const { socket, closed, received } = await openSocket(port)
  socket.write(request('/1') + request('/2') + last)
  await expect.poll(() => asked).toEqual(['/1'])
  for (const next of ['/2', '/last']) {
    await setImmediate()
    expect(asked).not.toContain(next)
    answers.at(-1)?.(next)
    await expect.poll(() => asked).toContain(next)
  }
  answers.at(-1)?.('done')
  await closed
  expect(received()).toMatch(/\/2.*\/last.*done/s)
})

test('between two of them it is the turn of another connection', { tags: ['slow'] }, async () => {
  const { port, asked, answers } = await listening()
  const [many, one] = [await openSocket(port), await openSocket(port)]
  const count = 100
  many.socket.write(Array.from({ length: count }, (_, index) => request(`/${index}`)).join('') + last)
  await expect.poll(() => asked).toEqual(['/0'])
  one.socket.write(request('/one'))
  await expect.poll(() => asked).toEqual(['/0', '/one'])
  for (let index = 0; index < count + 2; index += 1) {
    await expect.poll(() => answers.length, { interval: 1 }).toBeGreaterThan(index)
    answers[index]?.('')
  }
  await many.closed
  expect(many.received().match(/HTTP\/1\.1 200/g)).toHaveLength(count + 1)
  one.socket.destroy()
})
