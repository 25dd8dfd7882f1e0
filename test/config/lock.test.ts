import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withLock } from '../../src/config/lock.ts'

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'learnctl-test-'))
  path = join(directory, 'x.lock')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** A clock that advances only during sleep. */
function sleepingClock() {
  let time = 1_000_000
  return {
    now: () => time,
    sleep: async (ms: number) => {
      time += ms
    },
  }
}

function held(by: { pid?: number; host?: string; time: number }) {
  writeFileSync(path, JSON.stringify({ pid: process.pid, host: hostname(), id: 'other', ...by }))
}

describe('a lock', () => {
  it('is gone after the work, also when that fails', async () => {
    const work = withLock(path, sleepingClock(), () => {
      expect(existsSync(path)).toBe(true)
      throw new Error('no luck')
    })
    await expect(work).rejects.toThrow('no luck')
    expect(existsSync(path)).toBe(false)
  })

  it('lets one work after the other', async () => {
    const events: string[] = []
    const clock = { now: Date.now, sleep: () => new Promise<void>((done) => setImmediate(done)) }
    const work = (name: string) =>
      withLock(path, clock, async () => {
        events.push(`${name} in`)
        await new Promise((done) => setImmediate(done))
        events.push(`${name} out`)
      })
    await Promise.all([work('a'), work('b')])
    expect(events).toEqual(['a in', 'a out', 'b in', 'b out'])
  })

  it('is waited for 30 seconds, then named', async () => {
    const clock = sleepingClock()
    held({ time: clock.now() + 60_000 })
    const started = clock.now()
    await expect(withLock(path, clock, () => 'never')).rejects.toThrow(`The lock ${path} has been held`)
    expect(clock.now() - started).toBeGreaterThanOrEqual(30_000)
    expect(existsSync(path)).toBe(true)
  })

  it('of a process that has died is taken over at once', async () => {
    const clock = sleepingClock()
    held({ pid: 2 ** 30, time: clock.now() })
    const started = clock.now()
    expect(await withLock(path, clock, () => 'done')).toBe('done')
    expect(clock.now() - started).toBeLessThan(1000)
  })

  it('of another machine is taken over when it is older than 30 seconds', async () => {
    const clock = sleepingClock()
    held({ host: 'elsewhere', time: clock.now() })
    const started = clock.now()
    expect(await withLock(path, clock, () => 'done')).toBe('done')
    expect(clock.now() - started).toBeGreaterThan(29_000)
  })

  it('that holds nothing yet is not taken for a stale one', async () => {
    writeFileSync(path, '')
    const clock = { now: Date.now, sleep: async () => rmSync(path, { force: true }) }
    expect(await withLock(path, clock, () => 'done')).toBe('done')
  })
})
