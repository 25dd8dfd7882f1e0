import { Worker } from 'node:worker_threads'
import type { Principal } from '../access/principal.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'
import { shuttingDown } from '../problem/problem-error.ts'
import type { FromThread, ThreadData, ToThread } from './message.ts'
import { type BodyLimits, type RelayedBody, relayedBody } from './relayed-body.ts'
import type { Turn } from './turns.ts'

/** A thread that reads the database, as it looks from the outside. */
export interface Thread {
  /** How many requests it works on. */
  readonly load: () => number
  /** True while it makes a reply, and so can begin no other. */
  readonly isAnswering: () => boolean
  /** Answers a request; the turn ends with the last of it. Throws where the thread ends before. */
  answer(request: RequestContext, principal: Principal | undefined, turn: Turn): Promise<Reply>
  /** Cuts the clients who have kept it waiting at the last few calls, with what was begun longer ago than this. */
  cutSlow(graceMs: number, why: string): void
  close(): Promise<void>
}

/** A request that the thread works on. */
interface Task {
  readonly turn: Turn
  readonly resolve: (reply: Reply) => void
  readonly reject: (cause: unknown) => void
  readonly signal: AbortSignal | undefined
  readonly begunMs: number
  /** How many times in a row its reader was found behind. */
  full: number
  body?: RelayedBody
}

const ownFile = new URL(
  import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.cjs',
  import.meta.url,
)
/** Beyond it the thread ends, and the server goes on. */
const memoryMiB = 256
/** What a thread makes dies young: more room for it would make the server larger, and an export no faster. */
const newObjectsMiB = 3
/** A client that is as fast as the thread is found behind now and then. */
const fullAtMost = 3

/** Starts a thread. `onEnd` is told when it takes no work any more, whatever the reason. */
export function startThread(
  data: ThreadData,
  { threadFile = ownFile, ...limits }: BodyLimits & { readonly threadFile?: URL | undefined },
  onEnd: () => void,
): Thread {
  const worker = new Worker(threadFile, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: newObjectsMiB },
    // Pages are JSX, which Node does not read from source.
    ...(threadFile.pathname.endsWith('.ts') && { execArgv: ['--import', import.meta.resolve('tsx')] }),
  })
  // What it works on keeps a socket open, and that the process.
  worker.unref()
  const tasks = new Map<number, Task>()
  let answering: number | undefined
  let lastId = 0

  const tell = (message: ToThread) => worker.postMessage(message)

  function finish(id: number): void {
    const task = tasks.get(id)
    if (!task) return
    tasks.delete(id)
    if (answering === id) answering = undefined
    task.turn.ended()
  }

  function fail(id: number, cause: unknown): void {
    const task = tasks.get(id)
    task?.reject(cause)
    task?.body?.fail(cause)
    finish(id)
  }

  function failAll(cause: unknown): void {
    for (const id of [...tasks.keys()]) fail(id, cause)
  }

  /** Nobody waits for the rest any more; what the thread sends of it is not looked at. */
  function leave(id: number): void {
    tell({ kind: 'left', id })
    finish(id)
  }

  function begin(id: number, { reply, streamed }: Extract<FromThread, { kind: 'reply' }>): void {
    answering = undefined
    const task = tasks.get(id)
    if (!task) return
    if (!streamed) {
      task.resolve(reply)
      finish(id)
      return
    }
    const source = { taken: () => tell({ kind: 'taken', id }), left: () => leave(id) }
    const body = relayedBody(source, limits)
    task.body = body
    task.signal?.addEventListener('abort', () => body.leave(), { once: true })
    task.resolve({ ...reply, body })
    if (task.signal?.aborted) body.leave()
    else task.turn.answered()
  }

  worker.on('message', (message: FromThread) => {
    const { id } = message
    if (message.kind === 'reply') begin(id, message)
    else if (message.kind === 'broken') fail(id, message.cause)
    else if (message.kind === 'piece') tasks.get(id)?.body?.push(message.piece)
    else {
      tasks.get(id)?.body?.end()
      finish(id)
    }
  })
  worker.on('error', (cause) => {
    onEnd()
    failAll(cause)
  })
  worker.on('messageerror', (cause) => {
    failAll(cause)
    // What it still sends nobody takes: it would wait for that with its view of the data, for good.
    void worker.terminate()
  })
  worker.on('exit', () => {
    failAll(new Error('The reader thread has ended.'))
    onEnd()
  })

  return {
    load: () => tasks.size,
    isAnswering: () => answering !== undefined,
    answer: (request, principal, turn) =>
      new Promise((resolve, reject) => {
        lastId += 1
        const { method, url, headers, address } = request.raw
        const { signal } = request.raw
        answering = lastId
        tasks.set(lastId, { turn, resolve, reject, signal, begunMs: performance.now(), full: 0 })
        const raw = { method, url, headers, ...(address !== undefined && { address }) }
        tell({ kind: 'request', id: lastId, request: { ...request, raw }, principal })
      }),
    cutSlow(graceMs, why) {
      const latestMs = performance.now() - graceMs
      for (const task of tasks.values()) {
        task.full = task.body?.isFull() ? task.full + 1 : 0
        if (task.full >= fullAtMost && task.begunMs < latestMs) task.body?.cut(why)
      }
    },
    close: async () => {
      failAll(shuttingDown())
      await worker.terminate()
    },
  }
}
