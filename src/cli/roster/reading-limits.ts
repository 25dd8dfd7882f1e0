import { ApiError } from '../../client/errors.ts'
import type { ForeignRecords } from '../../contract/foreign-records.ts'
import { CommandError } from '../terminal/errors.ts'
import { type Io, note } from '../terminal/io.ts'

/** Longest time to wait for another system without progress, and the number of waits. */
const maxWaitMs = 15 * 60 * 1000
const maxWaits = 10
/** Shorter waits are not noted. */
const minNotedMs = 2000

/** Runs that were told that they wait, by their standard error. */
const noted = new WeakSet<object>()

/** Waits for another system that asks to wait, as long as a person may want to wait. */
export class Patience {
  readonly #io: Pick<Io, 'sleep' | 'signal' | 'stderr'>
  #waitedMs = 0
  #waits = 0

  constructor(io: Pick<Io, 'sleep' | 'signal' | 'stderr'>) {
    this.#io = io
  }

  /** Waits as long as an error asks to; throws it if it does not, or asks to wait too long. */
  async after(error: unknown): Promise<void> {
    const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503)
    const waitMs = isBusy ? (error.retryAfterMs ?? 0) : 0
    if (waitMs <= 0 || !this.allows(waitMs)) throw error
    await this.wait(waitMs, (error as ApiError).message)
  }

  /** True if the time, after earlier waits, is not too long. */
  allows(waitMs: number): boolean {
    return this.#waits < maxWaits && this.#waitedMs + waitMs <= maxWaitMs
  }

  /** Notes the reason the first time that a run waits. */
  async wait(waitMs: number, reason: string): Promise<void> {
    this.#waits += 1
    this.#waitedMs += waitMs
    const { stderr } = this.#io
    if (waitMs >= minNotedMs && !noted.has(stderr)) {
      noted.add(stderr)
      const limit = `for up to ${maxWaitMs / 60_000} minutes`
      await note(
        this.#io,
        `${reason.replace(/\.$/, '')}; waiting ${Math.ceil(waitMs / 1000)} s, and again ${limit} if it asks to`,
      )
    }
    await this.#io.sleep(waitMs, this.#io.signal)
  }

  restart(): void {
    this.#waitedMs = 0
    this.#waits = 0
  }
}

/** Maximum pages of one list, at 100 records a page: another system may repeat them without an end. */
const maxPages = 10_000

/**
 * Throws a CommandError if a list goes on after the most pages that are read.
 *
 * @param pages number of its pages so far, with this one
 */
export function requireEnd(
  { system, nextCursor, lmsKind }: ForeignRecords,
  part: string,
  pages: number,
): void {
  if (nextCursor === null || pages < maxPages) return
  throw new CommandError('endless_list', 'failure', `${system} does not end its list of ${part}`, {
    why: [`It has more than ${maxPages} pages`],
    hint: `Report this to its operator; check the connection with: learnctl integrations test ${lmsKind}`,
  })
}
