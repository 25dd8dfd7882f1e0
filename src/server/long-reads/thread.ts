import { Worker } from 'node:worker_threads'
import type { Principal } from '../access/principal.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'
import { shuttingDown } from '../problem-error.ts'
import type { FromThread, ThreadData, ToThread } from './message.ts'
import type { Slot } from './read-queue.ts'
import { type BodyLimits, RelayedBody } from './relayed-body.ts'

const ownFile = new URL(
  import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.cjs',
  import.meta.url,
)
/** Beyond it the thread ends; the server goes on. */
const maxMemoryMiB = 256
/** Objects are short-lived; a larger young generation takes more memory and makes exports no faster. */
const maxYoungMiB = 3

/** Calls `onEnd` once it accepts no more requests. */
export class ReaderThread {
  readonly #worker: Worker
  readonly #limits: BodyLimits
  readonly #tasks = new Map<number, Task>()
  /** Its reply has not started yet. */
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

  /** The thread cannot begin another request. */
  get isAnswering(): boolean {
    return this.#answering !== undefined
  }

  /** Releases the slot. Throws if the thread ends before. */
  answer(request: RequestContext, principal: Principal | undefined, slot: Slot): Promise<Reply> {
    this.#lastId += 1
    const id = this.#lastId
    const { method, url, headers, address, signal } = request.raw
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    this.#answering = id
    this.#tasks.set(id, { slot, resolve, reject, signal })
    const raw = { method, url, headers, ...(address !== undefined && { address }) }
    this.#post({ kind: 'request', id, request: { ...request, raw }, principal })
    return promise
  }

  async close(): Promise<void> {
    this.#failAll(shuttingDown())
    await this.#worker.terminate()
  }

  #receive(message: FromThread): void {
    const { id } = message
    if (message.kind === 'reply') this.#startReply(id, message)
    else if (message.kind === 'broken') this.#fail(id, message.cause)
    else if (message.kind === 'piece') this.#tasks.get(id)?.body?.push(message.piece)
    else {
      this.#tasks.get(id)?.body?.complete()
      this.#finish(id)
    }
  }

  #startReply(id: number, { reply, streamed }: Extract<FromThread, { kind: 'reply' }>): void {
    this.#answering = undefined
    const task = this.#tasks.get(id)
    if (!task) return
    if (!streamed) {
      task.resolve(reply)
      this.#finish(id)
      return
    }
    const body = new RelayedBody(
      {
        onRead: () => this.#post({ kind: 'read', id }),
        onGone: () => {
          this.#post({ kind: 'gone', id })
          // Later messages about this body are ignored.
          this.#finish(id)
        },
      },
      this.#limits,
    )
    task.body = body
    task.signal?.addEventListener('abort', () => body.abandon(), { once: true })
    task.resolve({ ...reply, body })
    if (task.signal?.aborted) body.abandon()
    else task.slot.startReply()
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
    task.slot.release()
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message)
  }
}

interface Task {
  readonly slot: Slot
  readonly resolve: (reply: Reply) => void
  readonly reject: (cause: unknown) => void
  readonly signal: AbortSignal | undefined
  body?: RelayedBody
}
