import { expect, onTestFinished, test } from 'vitest'
import { type QueueLimits, ReadQueue } from '../../../src/server/long-reads/long-reads.ts'

const limits: QueueLimits = {
  perOwner: 2,
  inAll: 3,
  answering: 2,
  waitingPerOwner: 2,
  waitMs: 60_000,
}

/** Enters a read of each of these owners in order; `begun` has the owners whose read began. */
function enterAll(owners: readonly string[], given: Partial<QueueLimits> = {}) {
  const queue = new ReadQueue({ ...limits, ...given })
  // Abort waiting requests after the test.
  const over = new AbortController()
  onTestFinished(() => over.abort())
  const begun: string[] = []
  const slots = owners.map(async (owner) => {
    const slot = await queue.enter(owner, over.signal)
    begun.push(owner)
    return slot
  })
  for (const one of slots) one.catch(() => {})
  return { queue, begun, slots }
}

/** Lets all possible work continue. */
const goOn = () => new Promise((resolve) => setImmediate(resolve))

test('an owner has so many at once, and the next begins when one of them has ended', async () => {
  const { begun, slots } = enterAll(['a', 'a', 'a'], { answering: 9 })
  const [first] = slots
  await goOn()
  expect(begun).toEqual(['a', 'a'])
  ;(await first)?.release()
  await goOn()
  expect(begun).toEqual(['a', 'a', 'a'])
})

test('as many replies are made at once as there are threads, however many bodies are read', async () => {
  const { begun, slots } = enterAll(['a', 'b', 'c'])
  await goOn()
  expect(begun).toEqual(['a', 'b'])
  const slot = await slots[0]
  slot?.startReply()
  slot?.startReply()
  await goOn()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('among waiting owners it is the turn of the one with the fewest', async () => {
  const { begun, slots } = enterAll(['a', 'a', 'b'], { answering: 1 })
  await goOn()
  ;(await slots[0])?.startReply()
  await goOn()
  expect(begun).toEqual(['a', 'b'])
})

test('an owner with too many waiting gets a time to retry, and no other does', async () => {
  const { queue, slots } = enterAll(['a', 'a', 'a', 'a'], { inAll: 9, answering: 9 })
  await expect(queue.enter('a', undefined)).rejects.toMatchObject({
    code: 'rate_limited',
    message: 'Too many exports and reports at once; try again in 5 s.',
    headers: { 'retry-after': '5' },
  })
  await expect(queue.enter('b', undefined)).resolves.toBeDefined()
  for (const slot of slots) (await slot).release()
  await expect(queue.enter('a', undefined)).resolves.toBeDefined()
})

test('a read that has waited too long is refused, and leaves its place', async () => {
  const { queue, slots } = enterAll(['a', 'a', 'a'], { waitMs: 1 })
  await expect(slots[2]).rejects.toMatchObject({ code: 'rate_limited' })
  ;(await slots[0])?.release()
  await expect(queue.enter('a', undefined)).resolves.toBeDefined()
})

test('a read that waits too long for others is refused without blame', async () => {
  const { slots } = enterAll(['a', 'b', 'c', 'd'], { answering: 9, waitMs: 1 })
  await expect(slots[3]).rejects.toMatchObject({ code: 'unavailable', headers: { 'retry-after': '5' } })
})

test('a client that disconnects stops waiting', async () => {
  const { queue } = enterAll(['a', 'a'])
  const gone = new AbortController()
  const waiting = queue.enter('a', gone.signal)
  gone.abort()
  const expected = { code: 'request_timeout', message: 'The client closed the connection.' }
  await expect(waiting).rejects.toMatchObject(expected)
  await expect(queue.enter('a', AbortSignal.abort())).rejects.toMatchObject(expected)
})
