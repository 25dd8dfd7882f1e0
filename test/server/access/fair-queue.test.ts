import { expect, test } from 'vitest'
import { createFairQueue } from '../../../src/server/access/passwords.ts'

const refusal = () => new Error('too much waits')

/** A queue whose work reports its start and ends on demand. */
function handQueue({ atOnce = 1, maxWaiting = 100 } = {}) {
  const queue = createFairQueue({ atOnce, maxWaiting, refusal })
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    add(caller: string, name: string) {
      return queue.run(
        caller,
        () =>
          new Promise<string>((resolve) => {
            begun.push(name)
            ends.push(() => resolve(name))
          }),
      )
    },
    /** Ends each piece when it starts, until none is left. */
    async drain() {
      for (let end = ends.shift(); end; end = ends.shift()) {
        end()
        await new Promise(setImmediate)
      }
    },
  }
}

test('an owner with one piece waits for one piece of an owner with a hundred', async () => {
  const { add, begun, drain } = handQueue()
  for (let count = 0; count < 100; count += 1) void add('batch', `batch ${count}`)
  void add('visitor', 'sign in')
  await drain()
  expect(begun).toHaveLength(101)
  expect(begun.slice(0, 3)).toEqual(['batch 0', 'batch 1', 'sign in'])
})

test('with many at once, results and faults go to their callers, and a fault stops nothing', async () => {
  const queue = createFairQueue({ atOnce: 2, maxWaiting: 100, refusal })
  let running = 0
  let most = 0
  const work = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    return running
  }
  const failing = queue.run('a', async () => {
    throw new TypeError('no')
  })
  await expect(failing).rejects.toThrow('no')
  await Promise.all(Array.from({ length: 10 }, () => queue.run('a', work)))
  expect(most).toBe(2)
})

test('a caller may have so much waiting, whatever others have', async () => {
  const { add, begun, drain } = handQueue({ maxWaiting: 2 })
  void add('a', 'running')
  void add('a', 'waiting 1')
  void add('a', 'waiting 2')
  await expect(add('a', 'too much')).rejects.toThrow('too much waits')
  void add('b', 'another')
  await drain()
  expect(begun).toEqual(['running', 'waiting 1', 'another', 'waiting 2'])
})
