import { setTimeout } from 'node:timers/promises'

const mostAttempts = 10
const attemptsBesideOthers = 3
const longestPauseMs = 100

/** Waits before the next attempt; the first one that failed is number 1. */
export type Pause = (attempt: number) => Promise<unknown>

/** Does something up to ten times, as long as it fails in a way that may be over the next time; then throws that fault. */
export type Attempts = <Result>(
  mayBeOver: (error: unknown) => boolean,
  work: () => Promise<Result>,
) => Promise<Result>

/**
 * Two that were in each other's way must not meet again: each waits for a random time, on average longer from one attempt
 * to the next.
 */
export const randomPause: Pause = (attempt) =>
  setTimeout(Math.random() * Math.min(longestPauseMs, 2 ** attempt))

/** Attempts of which those that failed three times go on one after the other: where many meet, each gets through. */
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
