import type { Later } from './attempt.ts'

/** What rounds are made from. */
export interface RoundsParts {
  /** Does one round; returns milliseconds until the next one is due, and may throw. */
  readonly round: () => Promise<number>
  /** Milliseconds from a round that threw to the next one. */
  readonly retryMs: number
  /** Called when a round has ended and no other one was asked for meanwhile. */
  readonly rested: () => void
  readonly later: Later
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/** Rounds of work, one at a time: the first soon, others when they are asked for or when the one before said. */
export class Rounds {
  readonly #parts: RoundsParts
  #isRunning = false
  /** Asked for, and not begun yet. */
  #isAsked = false
  #isClosed = false
  #beganMs = Number.NEGATIVE_INFINITY
  #planned: { readonly atMs: number; readonly timer: ReturnType<Later> } | undefined

  constructor(parts: RoundsParts) {
    this.#parts = parts
    this.#plan(0)
  }

  /** Asks for a round: now, or after the one that is running. */
  ask(): void {
    this.#isAsked = true
    if (!this.#isRunning) void this.#run()
  }

  /** Asks for a round once this time has passed since the last one began; an earlier one that is planned stays. */
  askAfter(ms: number): void {
    const nowMs = this.#parts.elapsedMs()
    const atMs = this.#beganMs + ms
    if (atMs <= nowMs || this.#isClosed) this.ask()
    else if (!this.#planned || this.#planned.atMs > atMs) this.#plan(atMs - nowMs)
  }

  /** Plans no round any more; those that are asked for still run. */
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
