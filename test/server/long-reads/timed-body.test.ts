import { ReadableStream } from 'node:stream/web'
import { expect, test } from 'vitest'
import { type BodyLimits, type Piece, TimedBody } from '../../../src/server/long-reads/long-reads.ts'

const patient = { idleMs: 60_000, totalMs: 60_000 }

async function all(body: AsyncIterable<unknown>): Promise<unknown[]> {
  const pieces: unknown[] = []
  for await (const piece of body) pieces.push(piece)
  return pieces
}

/** A body of what `source` yields, and a promise that it ended. */
function bodyOf(source: () => AsyncIterable<Piece>, limits: BodyLimits = patient) {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let ends = 0
  const body = new TimedBody(ReadableStream.from(source()), limits, () => {
    ends += 1
    resolve()
  })
  return { body, ended, ends: () => ends }
}

async function* endless() {
  for (;;) yield 'a'
}

test('its source ends once, with its last piece or with its reader', async () => {
  let isLeft = false
  const whole = bodyOf(async function* () {
    yield* ['a', '', 'b']
  })
  expect(await all(whole.body)).toEqual(['a', '', 'b'])
  expect(whole.ends()).toBe(1)
  const { body, ended, ends } = bodyOf(async function* () {
    try {
      yield* endless()
    } finally {
      isLeft = true
    }
  })
  for await (const _ of body) break
  await body.return()
  await ended
  expect({ isLeft, ends: ends() }).toEqual({ isLeft: true, ends: 1 })
})

test('an error is thrown after the pieces before it', async () => {
  const { body, ended } = bodyOf(async function* () {
    yield 'a'
    throw new Error('broken')
  })
  expect(await body.next()).toEqual({ done: false, value: 'a' })
  await expect(body.next()).rejects.toThrow('broken')
  await ended
})

test('a read that waits for a thread fails with it', async () => {
  const { body } = bodyOf(async function* () {
    await new Promise(() => {})
    yield 'a'
  })
  const reading = body.next()
  body.fail(new Error('The reader thread has ended.'))
  await expect(reading).rejects.toThrow('The reader thread has ended.')
})

test.for([
  [{ idleMs: 2, totalMs: 60_000 }, 'The client read nothing of the response for 0.002 s.'],
  [{ idleMs: 60_000, totalMs: 2 }, 'The client took longer than 0.002 s for the response.'],
] as const)(
  'a reader that is too slow is left (%o), and does not take a part for the whole',
  async ([limits, why]) => {
    const { body, ended } = bodyOf(endless, limits)
    await ended
    await expect(all(body)).rejects.toThrow(why)
  },
)

test('a reader that waits is not slow', async () => {
  const { body } = bodyOf(
    async function* () {
      await new Promise((resolve) => setTimeout(resolve, 5))
      yield 'a'
    },
    { idleMs: 1, totalMs: 60_000 },
  )
  expect(await all(body)).toEqual(['a'])
})
