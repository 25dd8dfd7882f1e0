import { describe, expect, test } from 'vitest'
import { createWebFetch } from '../../../src/cli/session/session-tokens.ts'
import { ProtocolError } from '../../../src/client/errors.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../../src/contract/http.ts'

const url = 'https://school.example/oauth/token'
const request = { method: 'POST', headers: { accept: 'application/json' } }

/** A transport with this response, and its requests. */
function answering(reply: Partial<HttpResponse>) {
  const sent: HttpRequest[] = []
  const transport: Transport = async (exchange) => {
    sent.push(exchange)
    return { status: 200, headers: {}, body: null, ...reply }
  }
  return { sent, transport }
}

async function* pieces(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text)
}

/** Endless bytes, and the number that was read. */
function endless() {
  let taken = 0
  const body = (async function* () {
    for (;;) {
      taken += 65_536
      yield Buffer.alloc(65_536)
    }
  })()
  return { body, taken: () => taken }
}

describe('a fetch over the transport of the program', () => {
  test('sends the form and gives the answer with its head', async () => {
    const headers = { 'content-type': 'application/json', date: 'Sun, 01 Mar 2026 12:00:00 GMT' }
    const { sent, transport } = answering({ status: 400, headers, body: pieces('{"error":', '"x"}') })
    const body = new URLSearchParams({ code: 'a b' })
    const response = await createWebFetch(transport, 1000)(url, { ...request, body })
    expect(sent).toMatchObject([{ method: 'POST', url, headers: request.headers, body: 'code=a+b' }])
    expect(response.status).toBe(400)
    expect(response.headers.get('date')).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
    expect(await response.json()).toEqual({ error: 'x' })
    const empty = await createWebFetch(answering({ status: 204 }).transport, 1000)(url, request)
    expect(await empty.text()).toBe('')
  })

  test('takes no status that HTTP does not know', async () => {
    const fetched = createWebFetch(answering({ status: 999 }).transport, 1000)(url, request)
    await expect(fetched).rejects.toMatchObject({ name: 'SignInError', code: 'answer_unusable' })
  })

  test('reads no more than 1 MiB of an answer', async () => {
    const { body, taken } = endless()
    const fetched = createWebFetch(answering({ body }).transport, 1000)(url, request)
    await expect(fetched).rejects.toMatchObject({ name: 'SignInError', code: 'answer_unusable' })
    expect(taken()).toBeLessThan(2 * 1024 * 1024)
  })

  test('waits no longer than it is told for the head, nor for the whole', async () => {
    const never: Transport = () => new Promise(() => {})
    await expect(createWebFetch(never, 5)(url, request)).rejects.toMatchObject({ name: 'TimeoutError' })
    const dripping: Transport = async ({ signal }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from('{')
        await new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
        })
      })(),
    })
    await expect(createWebFetch(dripping, 5)(url, request)).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('calls what is no HTTP an answer that cannot be used', async () => {
    const fault = new ProtocolError({ method: 'POST', url }, 'not_http', 'school.example speaks no HTTP')
    const transport: Transport = () => Promise.reject(fault)
    await expect(createWebFetch(transport, 1000)(url, request)).rejects.toMatchObject({
      name: 'SignInError',
      code: 'answer_unusable',
      message: fault.message,
    })
  })

  test('ends with the reason of its signal', async () => {
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    const { sent, transport } = answering({})
    await expect(createWebFetch(transport, 1000)(url, { ...request, signal })).rejects.toBe(reason)
    expect(sent).toEqual([])
  })
})
