import type { Store } from '../database/database.ts'
import { forget, keep, keptAs, rememberedMs } from './kept-attempts.ts'

/** Attempts at a secret by name, each name with its own delay, which grows with every attempt that fails. */
export interface Attempts {
  /**
   * Counts an attempt under all these names, as failed until it is forgiven; the seconds to wait where it comes too
   * early for one of them, else 0.
   */
  begin(names: readonly string[]): Promise<number>
  /** Forgets what failed: the last attempt was right. */
  forgive(names: readonly string[]): Promise<void>
}

const withoutDelay = 5
const longestSeconds = 15 * 60

/**
 * Attempts as the database keeps them, so that several servers on it count as one, and a restart forgets none: five
 * without delay, then one after a second, two, four and so on up to a quarter of an hour. An attempt that comes too
 * early is not counted: waiting is enough.
 */
export function attemptsIn(database: Pick<Store, 'write'>, now: () => Date): Attempts {
  return {
    begin: (names) =>
      database.write(async (transaction) => {
        const nowMs = now().getTime()
        const known = []
        for (const name of names) known.push(await keptAs(transaction, name, nowMs))
        const waitMs = Math.max(...known.map(({ nextMs }) => nextMs)) - nowMs
        if (waitMs > 0) return Math.ceil(waitMs / 1000)
        for (const { place, failures, nextMs } of known) {
          const count = nowMs - nextMs < rememberedMs ? failures + 1 : 1
          await keep(transaction, { place, failures: count, nextMs: nowMs + delayMs(count) })
        }
        return 0
      }),
    forgive: (names) =>
      database.write(async (transaction) => {
        for (const name of names) await forget(transaction, name)
      }),
  }
}

function delayMs(failures: number): number {
  return failures < withoutDelay ? 0 : Math.min(longestSeconds, 2 ** (failures - withoutDelay)) * 1000
}
