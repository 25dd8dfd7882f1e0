import type { Principal } from '../access/principal.ts'
import { logBytes } from '../database/sqlite/connection.ts'
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
  /** Size of the write-ahead log beyond which slow clients are cut: it grows with each write while a snapshot is read. */
  readonly logBytes: number
  /** Minimum age of a read before it is cut. */
  readonly graceMs: number
  /** Interval of checks of the log's size. */
  readonly watchMs: number
}

/** For an academy of a million enrolments on two cores. */
export const longReadLimits: LongReadLimits = {
  threads: 2,
  perOwner: 4,
  inAll: 16,
  waitingPerOwner: 8,
  waitingInAll: 64,
  waitMs: 10_000,
  // Long enough for a user with a pager; a held snapshot makes the write-ahead log grow.
  idleMs: 60_000,
  totalMs: 15 * 60_000,
  restMs: 60_000,
  logBytes: 1024 * 1024 * 1024,
  graceMs: 30_000,
  watchMs: 1_000,
}

const slowReason = 'The client reads too slowly while the data changes.'

/** Threads are started on demand. After `close`, running, waiting and later reads throw 503. */
export class ThreadPool implements LongReads {
  readonly #data: ThreadData
  readonly #limits: LongReadLimits
  readonly #queue: ReadQueue
  readonly #threads = new Set<ReaderThread>()
  #restTimer: NodeJS.Timeout | undefined
  #logTimer: NodeJS.Timeout | undefined
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
      this.#watchLog()
      return await this.#freeThread().answer(request, principal, slot)
    } catch (error) {
      slot.release()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restTimer)
    clearInterval(this.#logTimer)
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

  /** Cuts slow clients while the write-ahead log is too large. */
  #watchLog(): void {
    const { logBytes: maxLogBytes, graceMs, watchMs } = this.#limits
    this.#logTimer ??= setInterval(() => {
      if (logBytes(this.#data.path) <= maxLogBytes) return
      for (const thread of this.#threads) thread.cutSlow(graceMs, slowReason)
    }, watchMs).unref()
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
      if (this.#threads.size > 0) {
        this.#restLater()
        return
      }
      clearInterval(this.#logTimer)
      this.#logTimer = undefined
    }, this.#limits.restMs).unref()
  }
}
