/** Lets those take turns who share a connection, in the order in which they came. */
export interface Turns {
  /** True while nobody has the turn. */
  readonly areFree: () => boolean
  /** Does the work when the one before has ended. */
  take<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Turns that nobody has taken yet. */
export function newTurns(): Turns {
  const waiting: (() => void)[] = []
  let isTaken = false
  return {
    areFree: () => !isTaken,
    async take(work) {
      // Handed over from one to the next, it is never free in between.
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve))
      isTaken = true
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else isTaken = false
      }
    },
  }
}
