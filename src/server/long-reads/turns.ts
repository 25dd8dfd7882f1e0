import { clientGone, type ProblemError, tooMany, unavailable } from '../problem/problem-error.ts'

/** How many long reads there may be at once, and how long one waits for its turn. */
export interface TurnLimits {
  /** Begun and not ended, for each owner. */
  readonly perOwner: number
  /** Begun and not ended, in all. */
  readonly inAll: number
  /** Whose reply is being made: as many as there are threads. */
  readonly answering: number
  /** Waiting for their turn, for each owner. */
  readonly waitingPerOwner: number
  /** Waiting for their turn, in all. */
  readonly waitingInAll: number
  readonly waitMs: number
}

/** A long read that has begun. */
export interface Turn {
  /** Its reply is there; a body may still be read. */
  answered(): void
  /** Nothing of it goes on. */
  ended(): void
}

/** Who may begin, and who waits. */
export interface Turns {
  /**
   * Waits for a turn; of those that wait, it is for the owner with the fewest. Throws 429 where the owner has too many,
   * 503 where all have and the owner has the most, which may turn out later, and 408, for the log alone, where the signal
   * is aborted.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Turn>
}

interface Waiting {
  readonly owner: string
  readonly begin: () => void
  readonly refuse: (reason: unknown) => void
}

const tryAgainSeconds = 5

/** Turns within these limits. */
export function turnsOf(limits: TurnLimits): Turns {
  const begun = new Map<string, number>()
  let waiting: Waiting[] = []
  let all = 0
  let answering = 0

  const begunBy = (owner: string) => begun.get(owner) ?? 0

  function next(): Waiting | undefined {
    if (all >= limits.inAll || answering >= limits.answering) return undefined
    return waiting
      .filter(({ owner }) => begunBy(owner) < limits.perOwner)
      .reduce<Waiting | undefined>(
        (least, one) => (least && begunBy(least.owner) <= begunBy(one.owner) ? least : one),
        undefined,
      )
  }

  function goOn(): void {
    for (let one = next(); one; one = next()) {
      leave(one)
      one.begin()
    }
  }

  function leave(one: Waiting): void {
    waiting = waiting.filter((other) => other !== one)
  }

  function turnOf(owner: string): Turn {
    let [isAnswering, isOpen] = [true, true]
    begun.set(owner, begunBy(owner) + 1)
    all += 1
    answering += 1

    function answered(): void {
      if (!isAnswering) return
      isAnswering = false
      answering -= 1
      goOn()
    }

    return {
      answered,
      ended() {
        if (!isOpen) return
        isOpen = false
        all -= 1
        const left = begunBy(owner) - 1
        if (left > 0) begun.set(owner, left)
        else begun.delete(owner)
        answered()
        goOn()
      },
    }
  }

  const waitingOf = (owner: string) => waiting.filter((one) => one.owner === owner).length

  /** Who gives up a place for the newest one that waits; undefined where there is room for it. */
  function surplus(newest: Waiting): Waiting | undefined {
    if (waitingOf(newest.owner) > limits.waitingPerOwner) return newest
    if (waiting.length <= limits.waitingInAll) return undefined
    // Of those with the most, the one that came last; of theirs, the last one.
    return waiting.reduceRight(
      (most, one) => (waitingOf(one.owner) > waitingOf(most.owner) ? one : most),
      newest,
    )
  }

  /** What somebody is told who cannot wait, or has waited for too long. */
  function refusal(owner: string): ProblemError {
    if (begunBy(owner) + waitingOf(owner) >= limits.perOwner)
      return tooMany('exports and reports at once', tryAgainSeconds)
    return unavailable('The server is busy with other exports and reports.', tryAgainSeconds)
  }

  return {
    take: (owner, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) throw clientGone()
        const giveUp = () => refuse(clientGone())
        const late = setTimeout(() => refuse(refusal(owner)), limits.waitMs).unref()
        const one: Waiting = {
          owner,
          begin() {
            settled()
            resolve(turnOf(owner))
          },
          refuse,
        }

        function settled(): void {
          clearTimeout(late)
          signal?.removeEventListener('abort', giveUp)
        }

        function refuse(reason: unknown): void {
          settled()
          leave(one)
          reject(reason)
        }

        signal?.addEventListener('abort', giveUp, { once: true })
        waiting.push(one)
        goOn()
        const left = waiting.includes(one) ? surplus(one) : undefined
        left?.refuse(refusal(left.owner))
      }),
  }
}
