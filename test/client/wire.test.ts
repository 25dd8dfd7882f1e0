import { afterEach, describe, expect, test, vi } from 'vitest'
import { analytics } from '../../src/contract/analytics.ts'
import { courses } from '../../src/contract/courses.ts'
import { networks, startSocketServer, type Trial, testCaller, textOf } from './harness.ts'

type Server = Awaited<ReturnType<typeof startSocketServer>>
const closing: { close(): Promise<void> }[] = []

afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(closing.splice(0).map((each) => each.close()))
})

async function serve(handle: Parameters<typeof startSocketServer>[0]): Promise<Server> {
  const server = await startSocketServer(handle)
  closing.push(server)
  return server
}

/** Stops the clock of timeouts: a server advances it with each piece that it sends. */
const stopClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })

describe.each(networks)('over %s', (_, createNetwork) => {
  function call(options: Parameters<typeof testCaller>[0]): Trial {
    const transport = createNetwork()
    const run = testCaller({ attempts: 1, transport, ...options })
    closing.push(run, transport)
    return run
  }

  const json = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'

  test('a server that never answers ends by the first-byte timeout', { tags: ['slow'] }, async () => {
    const server = await serve(() => {})
    const run = call({ baseUrl: server.url, timeoutMs: 20, attempts: 3 })
    await expect(run.caller.call(courses.list)).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'first_byte_timeout',
      message: `${new URL(server.url).host} did not respond within 0.02 s (GET /v1/courses)`,
    })
    expect(run.sleeps).toHaveLength(2)
  })

  test('a server that stops in an answer ends by the idle timeout', { tags: ['slow'] }, async () => {
    const server = await serve((socket) => socket.write(`${json}Content-Length: 100\r\n\r\n{"data": [`))
    const run = call({ baseUrl: server.url, idleTimeoutMs: 20, attempts: 2 })
    await expect(run.caller.call(courses.list)).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'idle_timeout',
    })
    expect(server.heads).toHaveLength(2)
  })

  test('the idle timeout guards a stream, not the time of its reader', { tags: ['slow'] }, async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n'
    const server = await serve((socket) => socket.write(`${head}3\r\na,b\r\n3\r\n1,2\r\n`))
    const run = call({ baseUrl: server.url, idleTimeoutMs: 150 })
    const { body } = await run.caller.open(
      analytics.learners,
      { query: { format: 'csv' } },
      { accept: 'text/csv' },
    )
    let text = ''
    const read = async () => {
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString('utf8')
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    await expect(read()).rejects.toMatchObject({ code: 'idle_timeout' })
    expect(text).toBe('a,b1,2')
  })

  test('a stream that moves may outlast every timeout', { tags: ['slow'] }, async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n')
      let left = 8
      const timer = setInterval(() => {
        vi.advanceTimersByTime(100)
        socket.write(`400\r\n${'x'.repeat(1024)}\r\n`)
        left -= 1
        if (left > 0) return
        clearInterval(timer)
        socket.end('0\r\n\r\n')
      }, 5)
    })
    stopClock()
    const run = call({ baseUrl: server.url, idleTimeoutMs: 500, timeoutMs: 500 })
    const { body } = await run.caller.open(analytics.learners, {}, { accept: 'text/csv' })
    expect(await textOf(body)).toBe('x'.repeat(8 * 1024))
  })

  test.each([
    ['a length that is not reached', 'Content-Length: 100\r\n\r\n{"data": ['],
    ['a last chunk that never comes', 'Transfer-Encoding: chunked\r\n\r\na\r\n{"data": [\r\n'],
  ])('an answer with %s was cut short, and is asked for again', async (_, rest) => {
    const server = await serve((socket) => socket.end(json + rest))
    const run = call({ baseUrl: server.url, attempts: 2 })
    const error = await run.caller.call(courses.list).catch((fault: unknown) => fault)
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'cut_short' })
    expect(String(error)).toContain('cut short')
    expect(server.heads).toHaveLength(2)
  })

  test('an answer without end is left after 64 MiB', { tags: ['slow'] }, async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    let sent = 0
    const server = await serve((socket) => {
      socket.write(`${json}Content-Length: 2147483648\r\n\r\n`)
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length
        sent += chunk.length
      }
      socket.on('drain', pour)
      pour()
    })
    const run = call({ baseUrl: server.url })
    await expect(run.caller.call(courses.list)).rejects.toMatchObject({
      name: 'ProtocolError',
      code: 'too_large',
      message: `The response from ${new URL(server.url).host} to GET /v1/courses is larger than 64 MiB`,
    })
    expect(sent).toBeLessThan(128 * 1024 * 1024)
  })

  test('https to a server without it is a fault of trust, which is not tried again', async () => {
    const server = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const run = call({ baseUrl: server.url.replace('http:', 'https:'), attempts: 4 })
    await expect(run.caller.call(courses.list)).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'not_tls',
    })
    expect(run.sleeps).toEqual([])
  })

  test('a connection not made in time ends by the connect timeout', { tags: ['slow'] }, async () => {
    // A TLS handshake without an answer: the connection is open but not established.
    const server = await serve(() => {})
    const transport = createNetwork({ connectTimeoutMs: 30 })
    closing.push(transport)
    const run = call({ baseUrl: server.url.replace('http:', 'https:'), transport })
    await expect(run.caller.call(courses.create, { body: { title: 'X' } })).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'connect_timeout',
      timeoutMs: 30,
    })
  })

  test('a stream that never ends and is not what was asked for is left, and its connection closed', async () => {
    let closed = 0
    const server = await serve((socket) => {
      socket.on('close', () => {
        closed += 1
      })
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.write('6\r\n<html>\r\n')
    })
    const run = call({ baseUrl: server.url })
    const opened = run.caller.open(analytics.learners, { query: { format: 'csv' } }, { accept: 'text/csv' })
    await expect(opened).rejects.toMatchObject({ name: 'ProtocolError', code: 'html' })
    await expect.poll(() => closed).toBe(1)
  })
})
