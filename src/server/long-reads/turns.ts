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

interface Waiting {
  readonly owner: string
  readonly begin: () => void
  readonly refuse: (reason: unknown) => void
}

const retryAfterSeconds = 5

/** Running and waiting long reads, within limits. */
export class Turns {
  readonly #limits: TurnLimits
  /** Number of running reads by owner, without owners that have none. */
  readonly #runningByOwner = new Map<string, number>()
  #waiting: readonly Waiting[] = []
  #running = 0
  /** Running reads whose reply has not started. */
  #answering = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /**
   * Waits for a turn; the owner with the fewest running reads is next. Throws 429 if the owner has too many, 503 if there are
   * too many in all and the owner has the most (perhaps later, while waiting), and 408 if the signal is aborted.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Turn> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw clientGone()
      const settle = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
      }
      const newest: Waiting = {
        owner,
        begin: () => {
          settle()
          resolve(this.#begin(owner))
        },
        refuse: (reason) => {
          settle()
          this.#leave(newest)
          reject(reason)
        },
      }
      const giveUp = () => newest.refuse(clientGone())
      const timer = setTimeout(() => newest.refuse(this.#refusalOf(owner)), this.#limits.waitMs).unref()
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#waiting = [...this.#waiting, newest]
      this.#beginWaiting()
      const surplus = this.#waiting.includes(newest) ? this.#surplusAfter(newest) : undefined
      surplus?.refuse(this.#refusalOf(surplus.owner))
    })
  }

  #runningOf(owner: string): number {
    return this.#runningByOwner.get(owner) ?? 0
  }

  #waitingOf(owner: string): number {
    return this.#waiting.filter((one) => one.owner === owner).length
  }

  #beginWaiting(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#leave(next)
      next.begin()
    }
  }

  /** Returns the waiting read that can begin now. */
  #next(): Waiting | undefined {
    const { inAll, answering, perOwner } = this.#limits
    if (this.#running >= inAll || this.#answering >= answering) return undefined
    return this.#waiting
      .filter(({ owner }) => this.#runningOf(owner) < perOwner)
      .reduce<Waiting | undefined>(
        (least, one) => (least && this.#runningOf(least.owner) <= this.#runningOf(one.owner) ? least : one),
        undefined,
      )
  }

  #leave(one: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== one)
  }

  #begin(owner: string): Turn {
    let [isAnswering, isOpen] = [true, true]
    this.#runningByOwner.set(owner, this.#runningOf(owner) + 1)
    this.#running += 1
    this.#answering += 1
    const answered = () => {
      if (!isAnswering) return
      isAnswering = false
      this.#answering -= 1
      this.#beginWaiting()
    }
    return {
      answered,
      ended: () => {
        if (!isOpen) return
        isOpen = false
        this.#running -= 1
        const left = this.#runningOf(owner) - 1
        if (left > 0) this.#runningByOwner.set(owner, left)
        else this.#runningByOwner.delete(owner)
        answered()
        this.#beginWaiting()
      },
    }
  }

  /** Returns the waiting read that must give way to the newest one; undefined if there is room. */
  #surplusAfter(newest: Waiting): Waiting | undefined {
    if (this.#waitingOf(newest.owner) > this.#limits.waitingPerOwner) return newest
    if (this.#waiting.length <= this.#limits.waitingInAll) return undefined
    // The last one of the owner with the most.
    return this.#waiting.reduceRight(
      (most, one) => (this.#waitingOf(one.owner) > this.#waitingOf(most.owner) ? one : most),
      newest,
    )
  }

  #refusalOf(owner: string): ProblemError {
    if (this.#runningOf(owner) + this.#waitingOf(owner) >= this.#limits.perOwner)
      return tooMany('exports and reports at once', retryAfterSeconds)
    return unavailable('The server is busy with other exports and reports.', retryAfterSeconds)
  }
}
