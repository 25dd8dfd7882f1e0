import { setTimeout } from 'node:timers/promises'

const mostAttempts = 10
const attemptsBesideOthers = 3
const longestPauseMs = 100

/** Waits before the next attempt; `attempt` counts the failed ones from 1. */
export type Pause = (attempt: number) => Promise<unknown>

/** Retries up to ten times on transient errors, then throws the last one. */
export type Attempts = <Result>(
  mayBeOver: (error: unknown) => boolean,
  work: () => Promise<Result>,
) => Promise<Result>

/** Random, growing delay, so that two conflicting transactions do not collide again. */
export const randomPause: Pause = (attempt) =>
  setTimeout(Math.random() * Math.min(longestPauseMs, 2 ** attempt))

/**
 * Returns the retry loop. Calls that have failed three times run one at a time, so that each succeeds under
 * contention.
 */
export function attemptsWith(pause: Pause): Attempts {
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(work, work)
    last = turn
    return turn
  }

  return async (mayBeOver, work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await (attempt > attemptsBesideOthers ? inTurn(work) : work())
      } catch (error) {
        if (attempt === mostAttempts || !mayBeOver(error)) throw error
      }
      await pause(attempt)
    }
  }
}
