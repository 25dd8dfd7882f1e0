import { clientGone, type ProblemError, tooMany, unavailable } from '../problem-error.ts'

/** Limits of concurrent and waiting long reads. */
export interface TurnLimits {
  /** Maximum running reads of one owner. */
  readonly perOwner: number
  /** Maximum running reads. */
  readonly inAll: number
  /** Maximum replies being prepared: the number of threads. */
  readonly answering: number
  /** Maximum waiting reads of one owner. */
  readonly waitingPerOwner: number
  /** Maximum waiting reads. */
  readonly waitingInAll: number
  readonly waitMs: number
}

/** A running long read. */
export interface Turn {
  /** The reply has started; its body may still be read. */
  answered(): void
  /** The read has finished. */
  ended(): void
}

/** Running and waiting long reads. */
export interface Turns {
  /**
   * Waits for a turn; the owner with the fewest running reads is next. Throws 429 if the owner has too many, 503 if there are
   * too many in all and the owner has the most (perhaps later, while waiting), and 408 if the signal is aborted.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Turn>
}

interface Waiting {
  readonly owner: string
  readonly begin: () => void
  readonly refuse: (reason: unknown) => void
}

const retryAfterSeconds = 5

/** Returns turns within limits. */
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

  function beginWaiting(): void {
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
      beginWaiting()
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
        beginWaiting()
      },
    }
  }

  const waitingOf = (owner: string) => waiting.filter((one) => one.owner === owner).length

  /** Returns the waiting read that must give way to the newest one; undefined if there is room. */
  function surplus(newest: Waiting): Waiting | undefined {
    if (waitingOf(newest.owner) > limits.waitingPerOwner) return newest
    if (waiting.length <= limits.waitingInAll) return undefined
    // The last one of the owner with the most.
    return waiting.reduceRight(
      (most, one) => (waitingOf(one.owner) > waitingOf(most.owner) ? one : most),
      newest,
    )
  }

  function refusal(owner: string): ProblemError {
    if (begunBy(owner) + waitingOf(owner) >= limits.perOwner)
      return tooMany('exports and reports at once', retryAfterSeconds)
    return unavailable('The server is busy with other exports and reports.', retryAfterSeconds)
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
        beginWaiting()
        const left = waiting.includes(one) ? surplus(one) : undefined
        left?.refuse(refusal(left.owner))
      }),
  }
}
