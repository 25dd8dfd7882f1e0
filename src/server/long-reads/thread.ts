import { Worker } from 'node:worker_threads'
import type { Principal } from '../access/principal.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'
import { ProblemError, shuttingDown } from '../problem-error.ts'
import { type FromThread, maxPiecesAhead, type Piece, type ThreadData, type ToThread } from './message.ts'
import type { Turn } from './turns.ts'

/** A request in progress. */
interface Task {
  readonly turn: Turn
  readonly resolve: (reply: Reply) => void
  readonly reject: (cause: unknown) => void
  readonly signal: AbortSignal | undefined
  readonly begunMs: number
  /** Consecutive checks that found its buffer full. */
  fullChecks: number
  body?: RelayedBody
}

const ownFile = new URL(
  import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.cjs',
  import.meta.url,
)
/** Beyond it the thread ends; the server goes on. */
const maxMemoryMiB = 256
/** Objects are short-lived; a larger young generation takes more memory and makes exports no faster. */
const maxYoungMiB = 3
/** A client as fast as the thread has a full buffer now and then. */
const maxFullChecks = 3

/** A reader thread and its requests in progress. */
export class ReaderThread {
  readonly #limits: BodyLimits
  readonly #worker: Worker
  readonly #tasks = new Map<number, Task>()
  /** The request whose reply has not started. */
  #answering: number | undefined
  #lastId = 0

  /** Starts the thread. `onEnd` is called once it accepts no more requests. */
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

  /** Number of requests in progress. */
  load(): number {
    return this.#tasks.size
  }

  /** True until the reply of the last request has started; the thread cannot begin another one. */
  isAnswering(): boolean {
    return this.#answering !== undefined
  }

  /** Answers a request and ends its turn. Throws if the thread ends before. */
  answer(request: RequestContext, principal: Principal | undefined, turn: Turn): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const id = this.#lastId
      const { method, url, headers, address, signal } = request.raw
      this.#answering = id
      this.#tasks.set(id, { turn, resolve, reject, signal, begunMs: performance.now(), fullChecks: 0 })
      const raw = { method, url, headers, ...(address !== undefined && { address }) }
      this.#post({ kind: 'request', id, request: { ...request, raw }, principal })
    })
  }

  /** Cuts clients whose buffer was full at the last few calls, if their request is older than `graceMs`. */
  cutSlow(graceMs: number, why: string): void {
    const latestMs = performance.now() - graceMs
    for (const task of this.#tasks.values()) {
      task.fullChecks = task.body?.isFull() ? task.fullChecks + 1 : 0
      if (task.fullChecks >= maxFullChecks && task.begunMs < latestMs) task.body?.cut(why)
    }
  }

  async close(): Promise<void> {
    this.#failAll(shuttingDown())
    await this.#worker.terminate()
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromThread): void {
    const { id } = message
    if (message.kind === 'reply') this.#begin(id, message)
    else if (message.kind === 'broken') this.#fail(id, message.cause)
    else if (message.kind === 'piece') this.#tasks.get(id)?.body?.push(message.piece)
    else {
      this.#tasks.get(id)?.body?.end()
      this.#finish(id)
    }
  }

  #begin(id: number, { reply, streamed }: Extract<FromThread, { kind: 'reply' }>): void {
    this.#answering = undefined
    const task = this.#tasks.get(id)
    if (!task) return
    if (!streamed) {
      task.resolve(reply)
      this.#finish(id)
      return
    }
    const source = { taken: () => this.#post({ kind: 'taken', id }), left: () => this.#leave(id) }
    const body = relayedBody(source, this.#limits)
    task.body = body
    task.signal?.addEventListener('abort', () => body.leave(), { once: true })
    task.resolve({ ...reply, body })
    if (task.signal?.aborted) body.leave()
    else task.turn.answered()
  }

  /** Cancels a body; later messages about it are ignored. */
  #leave(id: number): void {
    this.#post({ kind: 'left', id })
    this.#finish(id)
  }

  #finish(id: number): void {
    const task = this.#tasks.get(id)
    if (!task) return
    this.#tasks.delete(id)
    if (this.#answering === id) this.#answering = undefined
    task.turn.ended()
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
}

/** Time limits of a body. */
export interface BodyLimits {
  /** Maximum time between two reads. */
  readonly idleMs: number
  /** Maximum time for the whole body. */
  readonly totalMs: number
}

/** Receives notifications about the reader. */
interface Source {
  /** A piece was read; one more may be sent. */
  taken(): void
  /** The reader is gone. Called at most once, and not after the source has ended the body. */
  left(): void
}

/** A body that is pushed by a source and read by a client. */
interface RelayedBody extends AsyncIterable<Piece> {
  push(piece: Piece): void
  end(): void
  /** Makes reads throw `cause` after the buffered pieces. */
  fail(cause: unknown): void
  /** Ends the body as if the reader were gone. */
  leave(): void
  /** True while the buffer is full. */
  isFull(): boolean
  /** Cuts a slow reader: the next read throws 408. */
  cut(why: string): void
}

/** Returns a body that is pushed by a source and read by a client. Cuts a client that exceeds the time limits. */
export function relayedBody(source: Source, { idleMs, totalMs }: BodyLimits): RelayedBody {
  const pieces: Piece[] = []
  let asked: PromiseWithResolvers<IteratorResult<Piece>> | undefined
  let over: { readonly cause: unknown } | 'ended' | undefined

  const idle = setTimeout(() => {
    if (asked) idle.refresh()
    else cut(`The client read nothing of the response for ${idleMs / 1000} s.`)
  }, idleMs).unref()
  const late = setTimeout(
    () => cut(`The client took longer than ${totalMs / 1000} s for the response.`),
    totalMs,
  ).unref()

  function stop(how: typeof over): void {
    if (over) return
    over = how
    clearTimeout(idle)
    clearTimeout(late)
    if (!asked) return
    const { resolve, reject } = asked
    asked = undefined
    if (how === 'ended') resolve({ done: true, value: undefined })
    else reject(how?.cause)
  }

  function cut(why: string): void {
    leave({ cause: new ProblemError('request_timeout', why) })
  }

  function leave(how: typeof over = 'ended'): void {
    if (over) return
    pieces.length = 0
    stop(how)
    source.left()
  }

  const iterator: AsyncIterator<Piece> = {
    async next() {
      const piece = pieces.shift()
      if (piece !== undefined) {
        if (!over) {
          source.taken()
          idle.refresh()
        }
        return { done: false, value: piece }
      }
      if (over === 'ended') return { done: true, value: undefined }
      if (over) throw over.cause
      asked = Promise.withResolvers()
      return asked.promise
    },
    async return() {
      leave()
      return { done: true, value: undefined }
    },
  }

  return {
    [Symbol.asyncIterator]: () => iterator,
    push(piece) {
      if (over) return
      if (!asked) {
        pieces.push(piece)
        return
      }
      const { resolve } = asked
      asked = undefined
      source.taken()
      idle.refresh()
      resolve({ done: false, value: piece })
    },
    end: () => stop('ended'),
    fail: (cause) => stop({ cause }),
    leave: () => leave(),
    isFull: () => pieces.length >= maxPiecesAhead,
    cut,
  }
}
