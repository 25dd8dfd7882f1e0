import { expect, test } from 'vitest'
import { type BodyLimits, RelayedBody } from '../../../src/server/long-reads/relayed-body.ts'

const patient = { idleMs: 60_000, totalMs: 60_000 }

async function all(body: AsyncIterable<unknown>): Promise<unknown[]> {
  const pieces: unknown[] = []
  for await (const piece of body) pieces.push(piece)
  return pieces
}

/** A body, the messages to its source, and a promise that the source ended. */
function bodyOf(limits: BodyLimits) {
  const messages: string[] = []
  const { promise: left, resolve } = Promise.withResolvers<void>()
  const source = {
    onRead: () => messages.push('read'),
    onGone() {
      messages.push('gone')
      resolve()
    },
  }
  return { body: new RelayedBody(source, limits), messages, left }
}

test('pushed pieces are read in order, whether pushed before the read or after', async () => {
  const { body, messages } = bodyOf(patient)
  body.push('a')
  const reading = all(body)
  body.push('')
  await new Promise((resolve) => setImmediate(resolve))
  body.push('b')
  body.complete()
  expect(await reading).toEqual(['a', '', 'b'])
  expect(messages).toEqual(['read', 'read', 'read'])
})

test('its source learns once that the reader has left', async () => {
  const { body, messages } = bodyOf(patient)
  body.push('a')
  for await (const _ of body) break
  body.abandon()
  expect(messages).toEqual(['read', 'gone'])
})

test('an error is thrown after the pieces before it', async () => {
  const { body, messages } = bodyOf(patient)
  body.push('a')
  body.fail(new Error('broken'))
  const iterator = body[Symbol.asyncIterator]()
  expect(await iterator.next()).toEqual({ done: false, value: 'a' })
  await expect(iterator.next()).rejects.toThrow('broken')
  expect(messages).toEqual([])
})

test.for([
  [{ idleMs: 2, totalMs: 60_000 }, 'The client read nothing of the response for 0.002 s.'],
  [{ idleMs: 60_000, totalMs: 2 }, 'The client took longer than 0.002 s for the response.'],
] as const)(
  'a reader that is too slow is left (%o), and does not take a part for the whole',
  async ([limits, why]) => {
    const { body, messages, left } = bodyOf(limits)
    body.push('a')
    await left
    await expect(all(body)).rejects.toThrow(why)
    expect(messages).toEqual(['gone'])
  },
)

test('a reader that waits is not slow', async () => {
  const { body, messages } = bodyOf({ idleMs: 1, totalMs: 60_000 })
  const reading = all(body)
  await new Promise((resolve) => setTimeout(resolve, 5))
  body.push('a')
  body.complete()
  expect(await reading).toEqual(['a'])
  expect(messages).toEqual(['read'])
})
