/** Lets those take turns who share a connection, in the order in which they came. */
export interface OneAtATime {
  /** True while nobody has the turn. */
  readonly areFree: () => boolean
  /** Does the work when the one before has ended. */
  take<Result>(work: () => Promise<Result>): Promise<Result>
}

/** A turn that nobody has taken yet. */
export function oneAtATime(): OneAtATime {
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
