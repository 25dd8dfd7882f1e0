import { recentlyUsed } from './recently-used.ts'

/** Attempts at a secret by name, each name with its own delay, which grows with every attempt that fails. */
export interface Attempts {
  /**
   * Counts an attempt under all these names, as failed until it is forgiven; the seconds to wait where it comes too
   * early for one of them, else 0.
   */
  begin(names: readonly string[]): number
  /** Forgets what failed: the last attempt was right. */
  forgive(names: readonly string[]): void
}

interface Failures {
  count: number
  /** Milliseconds of the epoch. */
  lastMs: number
}

const withoutDelay = 5
const longestSeconds = 15 * 60
/** How long after the end of a delay its failures are remembered. */
const rememberedMs = 60 * 60 * 1000
const mostNames = 10_000

/**
 * Attempts in bounded memory: five without delay, then one after a second, two, four and so on up to a quarter of an
 * hour. An attempt that comes too early is not counted: waiting is enough.
 */
export function attemptsOf(now: () => Date): Attempts {
  const failures = recentlyUsed<Failures>(mostNames)

  return {
    begin(names) {
      const nowMs = now().getTime()
      const known = names.map((name) => failures.use(name, () => ({ count: 0, lastMs: nowMs })))
      const waitMs = Math.max(...known.map(nextMs)) - nowMs
      if (waitMs > 0) return Math.ceil(waitMs / 1000)
      for (const one of known) {
        one.count = nowMs - nextMs(one) < rememberedMs ? one.count + 1 : 1
        one.lastMs = nowMs
      }
      return 0
    },
    forgive(names) {
      for (const name of names) failures.delete(name)
    },
  }
}

/** When another attempt may be made, in milliseconds of the epoch. */
function nextMs({ count, lastMs }: Failures): number {
  const seconds = count < withoutDelay ? 0 : Math.min(longestSeconds, 2 ** (count - withoutDelay))
  return lastMs + seconds * 1000
}
