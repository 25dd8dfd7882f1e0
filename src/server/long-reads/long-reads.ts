import type { Principal } from '../access/principal.ts'
import type { Reply } from '../http/reply.ts'
import type { LongReads, RequestContext } from '../http/request-context.ts'
import { shuttingDown } from '../problem-error.ts'
import type { ThreadData } from './message.ts'
import { type QueueLimits, ReadQueue } from './read-queue.ts'
import type { BodyLimits } from './relayed-body.ts'
import { ReaderThread } from './thread.ts'

export interface LongReadLimits extends Omit<QueueLimits, 'answering'>, BodyLimits {
  readonly threads: number
  /** Default: this program's. */
  readonly threadFile?: URL | undefined
  /** An idle thread is closed after it. */
  readonly restMs: number
}

/** For an academy of a million enrolments on two cores. */
export const longReadLimits: LongReadLimits = {
  threads: 2,
  perOwner: 4,
  inAll: 16,
  waitingPerOwner: 8,
  waitMs: 10_000,
  // Long enough for a user with a pager; a held snapshot makes the write-ahead log grow.
  idleMs: 60_000,
  totalMs: 15 * 60_000,
  restMs: 60_000,
}

/** Threads are started on demand. After `close`, running, waiting and later reads throw 503. */
export class ThreadPool implements LongReads {
  readonly #data: ThreadData
  readonly #limits: LongReadLimits
  readonly #queue: ReadQueue
  readonly #threads = new Set<ReaderThread>()
  #restTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(data: ThreadData, limits: LongReadLimits) {
    this.#data = data
    this.#limits = limits
    this.#queue = new ReadQueue({ ...limits, answering: limits.threads })
  }

  async answer(request: RequestContext, owner: string, principal?: Principal): Promise<Reply> {
    const slot = await this.#queue.enter(owner, request.raw.signal)
    try {
      if (this.#isClosed) throw shuttingDown()
      this.#restLater()
      return await this.#freeThread().answer(request, principal, slot)
    } catch (error) {
      slot.release()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restTimer)
    await Promise.all([...this.#threads].map((thread) => thread.close()))
  }

  /** An idle thread, else a new one, else the one with the fewest requests. */
  #freeThread(): ReaderThread {
    const [least] = [...this.#threads]
      .filter((thread) => !thread.isAnswering)
      .sort((one, other) => one.load - other.load)
    if (least && (least.load === 0 || this.#threads.size >= this.#limits.threads)) return least
    const thread = new ReaderThread(this.#data, this.#limits, () => this.#threads.delete(thread))
    this.#threads.add(thread)
    return thread
  }

  /** Closes idle threads once no read has begun for a while. */
  #restLater(): void {
    clearTimeout(this.#restTimer)
    this.#restTimer = setTimeout(() => {
      for (const thread of this.#threads) {
        if (thread.load > 0) continue
        this.#threads.delete(thread)
        void thread.close()
      }
      if (this.#threads.size > 0) this.#restLater()
    }, this.#limits.restMs).unref()
  }
}
