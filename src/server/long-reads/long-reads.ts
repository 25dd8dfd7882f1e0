import type { ReadableStream, ReadableStreamDefaultReader } from 'node:stream/web'
import { Worker } from 'node:worker_threads'
import { createFairQueue } from '../access/passwords.ts'
import type { Principal } from '../access/principal.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { Reply } from '../http/reply.ts'
import type { LongReads, RequestContext } from '../http/request-context.ts'
import { clientGone, ProblemError, shuttingDown, tooMany, unavailable } from '../problem-error.ts'

export interface LongReadLimits extends BodyLimits {
  readonly threads: number
  /** Reads of an owner whose response has not been read to its end. */
  readonly perOwner: number
  readonly inAll: number
  readonly waitingPerOwner: number
  /** Default: this program's. */
  readonly threadFile?: URL | undefined
  readonly restMs: number
}

/** For an academy of a million enrolments on two cores. */
export const longReadLimits: LongReadLimits = {
  threads: 2,
  perOwner: 4,
  inAll: 16,
  waitingPerOwner: 8,
  // Long enough for a user with a pager; a held snapshot makes the write-ahead log grow.
  idleMs: 60_000,
  totalMs: 15 * 60_000,
  restMs: 60_000,
}

const retryAfterSeconds = 5
const busy = () => tooMany('exports and reports at once', retryAfterSeconds)

/**
 * Threads are started on demand; each prepares one reply at a time, and owners take turns. After `close`, running,
 * waiting and later reads throw 503.
 */
export class ThreadPool implements LongReads {
  readonly #data: ThreadData
  readonly #limits: LongReadLimits
  readonly #queue: ReturnType<typeof createFairQueue>
  readonly #running = new Set<{ readonly owner: string }>()
  readonly #threads = new Set<ReaderThread>()
  #restTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(data: ThreadData, limits: LongReadLimits) {
    this.#data = data
    this.#limits = limits
    const { threads, waitingPerOwner } = limits
    this.#queue = createFairQueue({ atOnce: threads, maxWaiting: waitingPerOwner, refusal: busy })
  }

  answer(request: RequestContext, owner: string, principal?: Principal): Promise<Reply> {
    return this.#queue.run(owner, async () => {
      if (request.raw.signal?.aborted) throw clientGone()
      if (this.#isClosed) throw shuttingDown()
      const end = this.#begin(owner)
      try {
        this.#restLater()
        return await this.#freeThread().answer(request, principal, end)
      } catch (error) {
        end()
        throw error
      }
    })
  }

  /** Returns what ends the read. Throws 429 if the owner has too many, and 503 if all have. */
  #begin(owner: string): () => void {
    const { perOwner, inAll } = this.#limits
    const own = [...this.#running].filter((read) => read.owner === owner)
    if (own.length >= perOwner) throw busy()
    if (this.#running.size >= inAll)
      throw unavailable('The server is busy with other exports and reports.', retryAfterSeconds)
    const read = { owner }
    this.#running.add(read)
    return () => void this.#running.delete(read)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restTimer)
    await Promise.all([...this.#threads].map((thread) => thread.close()))
  }

  /** An idle one, else a new one, else the one with the fewest requests. */
  #freeThread(): ReaderThread {
    const [least] = [...this.#threads]
      .filter((thread) => !thread.isAnswering)
      .sort((one, other) => one.load - other.load)
    if (least && (least.load === 0 || this.#threads.size >= this.#limits.threads)) return least
    const thread = new ReaderThread(this.#data, this.#limits, () => this.#threads.delete(thread))
    this.#threads.add(thread)
    return thread
  }

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

export interface ThreadData {
  readonly path: string
  readonly postgres?: PostgresOptions | undefined
  readonly publicUrl: string | undefined
  readonly fixedTime?: string | undefined
}

export interface ToThread {
  readonly id: number
  readonly request: RequestContext
  /** Undefined for pages, which authenticate by themselves. */
  readonly principal: Principal | undefined
}

export type Piece = string | Uint8Array

export type FromThread =
  | {
      readonly kind: 'reply'
      readonly id: number
      readonly reply: Omit<Reply, 'body'> & { readonly body: string | ReadableStream<Piece> | null }
    }
  | { readonly kind: 'broken'; readonly id: number; readonly cause: unknown }

const ownFile = new URL(
  import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.cjs',
  import.meta.url,
)
/** Beyond it the thread ends; the server goes on. */
const maxMemoryMiB = 256
/** Objects are short-lived; a larger young generation takes more memory and makes exports no faster. */
const maxYoungMiB = 3

export class ReaderThread {
  readonly #worker: Worker
  readonly #limits: BodyLimits
  readonly #tasks = new Map<number, Task>()
  #answering: number | undefined
  #lastId = 0

  constructor(
    data: ThreadData,
    { threadFile = ownFile, ...limits }: BodyLimits & { readonly threadFile?: URL | undefined },
    onEnd: () => void,
  ) {
    this.#limits = limits
    this.#worker = new Worker(threadFile, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: maxMemoryMiB, maxYoungGenerationSizeMb: maxYoungMiB },
      // Pages are JSX, which Node does not read from source.
      ...(threadFile.pathname.endsWith('.ts') && { execArgv: ['--import', import.meta.resolve('tsx')] }),
    })
    // An open response keeps the process alive; an idle thread must not.
    this.#worker.unref()
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (cause) => {
      onEnd()
      this.#failAll(cause)
    })
    this.#worker.on('messageerror', (cause) => {
      this.#failAll(cause)
      // Its bodies would wait for readers forever, and keep their snapshots.
      void this.#worker.terminate()
    })
    this.#worker.on('exit', () => {
      this.#failAll(new Error('The reader thread has ended.'))
      onEnd()
    })
  }

  get load(): number {
    return this.#tasks.size
  }

  get isAnswering(): boolean {
    return this.#answering !== undefined
  }

  /** `onEnd` follows once the body is read, or the request has failed. Throws if the thread ends before the reply. */
  answer(request: RequestContext, principal: Principal | undefined, onEnd: () => void): Promise<Reply> {
    this.#lastId += 1
    const id = this.#lastId
    const { method, url, headers, address, signal } = request.raw
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    this.#answering = id
    this.#tasks.set(id, { onEnd, resolve, reject, signal })
    const raw = { method, url, headers, ...(address !== undefined && { address }) }
    this.#worker.postMessage({ id, request: { ...request, raw }, principal } satisfies ToThread)
    return promise
  }

  async close(): Promise<void> {
    this.#failAll(shuttingDown())
    await this.#worker.terminate()
  }

  #receive(message: FromThread): void {
    const { id } = message
    if (message.kind === 'broken') this.#fail(id, message.cause)
    else this.#startReply(id, message.reply)
  }

  #startReply(id: number, reply: Extract<FromThread, { kind: 'reply' }>['reply']): void {
    this.#answering = undefined
    const task = this.#tasks.get(id)
    const { body: stream, ...head } = reply
    if (stream === null || typeof stream === 'string') {
      task?.resolve({ ...head, body: stream })
      this.#finish(id)
      return
    }
    const body = new TimedBody(stream, this.#limits, () => this.#finish(id))
    if (!task || task.signal?.aborted) void body.return()
    if (!task) return
    task.body = body
    task.signal?.addEventListener('abort', () => void body.return(), { once: true })
    task.resolve({ ...head, body })
  }

  #fail(id: number, cause: unknown): void {
    const task = this.#tasks.get(id)
    task?.reject(cause)
    task?.body?.fail(cause)
    this.#finish(id)
  }

  #failAll(cause: unknown): void {
    for (const id of [...this.#tasks.keys()]) this.#fail(id, cause)
  }

  #finish(id: number): void {
    const task = this.#tasks.get(id)
    if (!task) return
    this.#tasks.delete(id)
    if (this.#answering === id) this.#answering = undefined
    task.onEnd()
  }
}

interface Task {
  readonly onEnd: () => void
  readonly resolve: (reply: Reply) => void
  readonly reject: (cause: unknown) => void
  readonly signal: AbortSignal | undefined
  body?: TimedBody
}

export interface BodyLimits {
  readonly idleMs: number
  readonly totalMs: number
}

/** A client that exceeds the time limits is cut: its next read throws 408. */
export class TimedBody implements AsyncIterableIterator<Piece> {
  readonly #reader: ReadableStreamDefaultReader<Piece>
  readonly #onEnd: () => void
  readonly #idle: NodeJS.Timeout
  readonly #late: NodeJS.Timeout
  #isReading = false
  #hasEnded = false
  #failure: { readonly cause: unknown } | undefined

  constructor(stream: ReadableStream<Piece>, { idleMs, totalMs }: BodyLimits, onEnd: () => void) {
    this.#reader = stream.getReader()
    this.#onEnd = onEnd
    this.#idle = setTimeout(() => {
      if (this.#isReading) this.#idle.refresh()
      else this.#cut(`The client read nothing of the response for ${idleMs / 1000} s.`)
    }, idleMs).unref()
    this.#late = setTimeout(
      () => this.#cut(`The client took longer than ${totalMs / 1000} s for the response.`),
      totalMs,
    ).unref()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Piece>> {
    this.#isReading = true
    try {
      const { done, value } = await this.#reader.read()
      if (this.#failure) throw this.#failure.cause
      if (!done) return { done, value }
    } catch (error) {
      this.#end()
      throw error
    } finally {
      this.#isReading = false
      if (!this.#hasEnded) this.#idle.refresh()
    }
    return this.return()
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.#end()
    return { done: true, value: undefined }
  }

  /** Discards what is buffered: the next read throws. */
  fail(cause: unknown): void {
    if (!this.#hasEnded) this.#failure = { cause }
    this.#end()
  }

  #cut(why: string): void {
    this.fail(new ProblemError('request_timeout', why))
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#idle)
    clearTimeout(this.#late)
    // Ends a read that waits, also for a thread that has ended.
    this.#reader.cancel().catch(() => {})
    this.#onEnd()
  }
}
