import { expect, onTestFinished, test } from 'vitest'
import { type TurnLimits, Turns } from '../../../src/server/long-reads/turns.ts'

const limits: TurnLimits = {
  perOwner: 2,
  inAll: 3,
  answering: 2,
  waitingPerOwner: 2,
  waitingInAll: 3,
  waitMs: 60_000,
}

/** Takes a turn for each of these owners in order; `begun` has the owners whose turn began. */
function crowd(owners: readonly string[], given: Partial<TurnLimits> = {}) {
  const turns = new Turns({ ...limits, ...given })
  // Abort waiting requests after the test.
  const over = new AbortController()
  onTestFinished(() => over.abort())
  const begun: string[] = []
  const taken = owners.map(async (owner) => {
    const turn = await turns.take(owner, over.signal)
    begun.push(owner)
    return turn
  })
  for (const one of taken) one.catch(() => {})
  return { turns, begun, taken }
}

/** Lets all possible work continue. */
const goOn = () => new Promise((resolve) => setImmediate(resolve))

test('an owner has so many at once, and the next begins when one of them has ended', async () => {
  const { begun, taken } = crowd(['a', 'a', 'a'], { answering: 9 })
  const [first] = taken
  await goOn()
  expect(begun).toEqual(['a', 'a'])
  ;(await first)?.ended()
  await goOn()
  expect(begun).toEqual(['a', 'a', 'a'])
})

test('as many replies are made at once as there are threads, however many bodies are read', async () => {
  const { begun, taken } = crowd(['a', 'b', 'c'])
  await goOn()
  expect(begun).toEqual(['a', 'b'])
  const turn = await taken[0]
  turn?.answered()
  turn?.answered()
  await goOn()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('of those that wait it is the turn of the owner with the fewest', async () => {
  const { begun, taken } = crowd(['a', 'a', 'b'], { answering: 1 })
  await goOn()
  ;(await taken[0])?.answered()
  await goOn()
  expect(begun).toEqual(['a', 'b'])
})

test('an owner with too many waiting gets a time to retry, and no other does', async () => {
  const { turns, taken } = crowd(['a', 'a', 'a', 'a'], { inAll: 9, answering: 9 })
  await expect(turns.take('a', undefined)).rejects.toMatchObject({
    code: 'rate_limited',
    message: 'Too many exports and reports at once; try again in 5 s.',
    headers: { 'retry-after': '5' },
  })
  await expect(turns.take('b', undefined)).resolves.toBeDefined()
  for (const turn of taken) (await turn).ended()
  await expect(turns.take('a', undefined)).resolves.toBeDefined()
})

test('where all together have too many, one of the owner with the most gives up its place', async () => {
  const { turns, taken } = crowd(['a', 'b', 'c', 'd', 'd', 'e'], { answering: 9 })
  const late = turns.take('f', undefined)
  await expect(taken[4]).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '5' } })
  ;(await taken[0])?.ended()
  ;(await taken[1])?.ended()
  ;(await taken[2])?.ended()
  await expect(Promise.all([taken[3], taken[5], late])).resolves.toHaveLength(3)
})

test('an owner who brings one more than all others is refused, and displaces no other', async () => {
  const { turns, taken } = crowd(['a', 'b', 'c', 'd', 'd', 'e'], {
    answering: 9,
    waitingPerOwner: 9,
    waitingInAll: 3,
  })
  await expect(turns.take('d', undefined)).rejects.toMatchObject({ headers: { 'retry-after': '5' } })
  ;(await taken[0])?.ended()
  ;(await taken[1])?.ended()
  await expect(Promise.all([taken[3], taken[5]])).resolves.toHaveLength(2)
})

test('where all together have too many, that is the answer', async () => {
  const { turns } = crowd(['a', 'b', 'c', 'd', 'e', 'f'], { answering: 9 })
  await expect(turns.take('g', undefined)).rejects.toMatchObject({
    code: 'unavailable',
    headers: { 'retry-after': '5' },
  })
})

test('who has waited for too long is refused, and takes up no place any more', async () => {
  const { turns, taken } = crowd(['a', 'a', 'a'], { waitMs: 1 })
  await expect(taken[2]).rejects.toMatchObject({ code: 'rate_limited' })
  ;(await taken[0])?.ended()
  await expect(turns.take('a', undefined)).resolves.toBeDefined()
})

test('who leaves does not wait on', async () => {
  const { turns } = crowd(['a', 'a'])
  const gone = new AbortController()
  const waiting = turns.take('a', gone.signal)
  gone.abort()
  const told = { code: 'request_timeout', message: 'The client closed the connection.' }
  await expect(waiting).rejects.toMatchObject(told)
  await expect(turns.take('a', AbortSignal.abort())).rejects.toMatchObject(told)
})
