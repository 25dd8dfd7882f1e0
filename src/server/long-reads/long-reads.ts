import type { Principal } from '../access/principal.ts'
import type { Reply } from '../http/reply.ts'
import type { LongReads, RequestContext } from '../http/request-context.ts'
import { clientGone, type ProblemError, shuttingDown, tooMany, unavailable } from '../problem-error.ts'
import { type BodyLimits, ReaderThread, type Slot, type ThreadData } from './thread.ts'

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

export interface QueueLimits {
  readonly perOwner: number
  /** Running reads. */
  readonly inAll: number
  /** Replies being prepared: the number of threads. */
  readonly answering: number
  readonly waitingPerOwner: number
  readonly waitMs: number
}

const retryAfterSeconds = 5

export class ReadQueue {
  readonly #limits: QueueLimits
  readonly #runningByOwner = new Map<string, number>()
  #waiting: Waiting[] = []
  #running = 0
  /** Running reads whose reply has not started. */
  #answering = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /**
   * Waits for a slot; the owner with the fewest running reads is next. Throws 429 if the owner has too many, 503 after
   * `waitMs`, and 408 if the signal is aborted.
   */
  async enter(owner: string, signal: AbortSignal | undefined): Promise<Slot> {
    if (signal?.aborted) throw clientGone()
    const waiting: Waiting = { owner, ...Promise.withResolvers<Slot>() }
    const abort = () => this.#refuse(waiting, clientGone())
    const late = setTimeout(() => this.#refuse(waiting, this.#refusalOf(owner)), this.#limits.waitMs).unref()
    signal?.addEventListener('abort', abort, { once: true })
    this.#waiting.push(waiting)
    this.#startNext()
    if (this.#waitingOf(owner) > this.#limits.waitingPerOwner) this.#refuse(waiting, this.#refusalOf(owner))
    try {
      return await waiting.promise
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', abort)
    }
  }

  #startNext(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#remove(next)
      next.resolve(this.#start(next.owner))
    }
  }

  /** Returns the waiting read of the owner with the fewest running ones; undefined if there is no room. */
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

  #start(owner: string): Slot {
    let [isAnswering, isRunning] = [true, true]
    this.#runningByOwner.set(owner, this.#runningOf(owner) + 1)
    this.#running += 1
    this.#answering += 1
    const startReply = () => {
      if (!isAnswering) return
      isAnswering = false
      this.#answering -= 1
      this.#startNext()
    }
    const release = () => {
      if (!isRunning) return
      isRunning = false
      this.#running -= 1
      const left = this.#runningOf(owner) - 1
      if (left > 0) this.#runningByOwner.set(owner, left)
      else this.#runningByOwner.delete(owner)
      startReply()
      this.#startNext()
    }
    return { startReply, release }
  }

  #refuse(waiting: Waiting, reason: ProblemError): void {
    this.#remove(waiting)
    waiting.reject(reason)
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting)
  }

  #refusalOf(owner: string): ProblemError {
    if (this.#runningOf(owner) + this.#waitingOf(owner) >= this.#limits.perOwner)
      return tooMany('exports and reports at once', retryAfterSeconds)
    return unavailable('The server is busy with other exports and reports.', retryAfterSeconds)
  }

  #runningOf(owner: string): number {
    return this.#runningByOwner.get(owner) ?? 0
  }

  #waitingOf(owner: string): number {
    return this.#waiting.filter((one) => one.owner === owner).length
  }
}

interface Waiting extends PromiseWithResolvers<Slot> {
  readonly owner: string
}
