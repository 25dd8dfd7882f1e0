import type { Later } from './attempt.ts'

interface RoundsParts {
  /** Returns milliseconds until the next round, and may throw. */
  readonly round: () => Promise<number>
  /** From a failed round to the next one. */
  readonly retryMs: number
  /** After a round if no other one has been requested. */
  readonly rested: () => void
  readonly later: Later
  /** Monotonic. */
  readonly elapsedMs: () => number
}

/**
 * Runs rounds of work, one at a time: the first soon, others when requested or when the previous one said.
 */
export class Rounds {
  readonly #parts: RoundsParts
  #isRunning = false
  /** Requested, and not started yet. */
  #isAsked = false
  #isClosed = false
  #beganMs = Number.NEGATIVE_INFINITY
  #planned: { readonly atMs: number; readonly timer: ReturnType<Later> } | undefined

  constructor(parts: RoundsParts) {
    this.#parts = parts
    this.#plan(0)
  }

  /** Now, or after the running one. */
  ask(): void {
    this.#isAsked = true
    if (!this.#isRunning) void this.#run()
  }

  /** Requests a round after some time since the start of the last one; keeps an earlier plan. */
  askAfter(ms: number): void {
    const nowMs = this.#parts.elapsedMs()
    const atMs = this.#beganMs + ms
    if (atMs <= nowMs || this.#isClosed) this.ask()
    else if (!this.#planned || this.#planned.atMs > atMs) this.#plan(atMs - nowMs)
  }

  /** Requested rounds still run. */
  close(): void {
    this.#isClosed = true
    this.#planned?.timer.clear()
  }

  #plan(ms: number): void {
    this.#planned?.timer.clear()
    if (this.#isClosed) return
    const { later, elapsedMs } = this.#parts
    this.#planned = { atMs: elapsedMs() + ms, timer: later(() => this.ask(), ms) }
  }

  async #run(): Promise<void> {
    const { round, retryMs, rested, elapsedMs } = this.#parts
    this.#isRunning = true
    while (this.#isAsked) {
      this.#isAsked = false
      this.#beganMs = elapsedMs()
      try {
        this.#plan(await round())
      } catch {
        this.#isAsked = false
        this.#plan(retryMs)
      }
    }
    this.#isRunning = false
    rested()
  }
}

const busyPerSecond = 300
const windowMs = 100

export interface RequestLoad {
  asked(): void
  /** More than 300 requests a second recently. */
  isBusy(): boolean
}

/** Measures the requests of the last tenth of a second; `elapsedMs` must be monotonic. */
export function createRequestLoad(elapsedMs: () => number): RequestLoad {
  let requests = 0
  let countedFrom = elapsedMs()
  let isAboveLimit = false
  return {
    asked() {
      requests += 1
      const ms = elapsedMs() - countedFrom
      if (ms < windowMs) return
      isAboveLimit = requests > (busyPerSecond / 1000) * ms
      requests = 0
      countedFrom += ms
    },
    // Busy only until a while after the last request.
    isBusy: () => isAboveLimit && elapsedMs() - countedFrom <= 2 * windowMs,
  }
}
