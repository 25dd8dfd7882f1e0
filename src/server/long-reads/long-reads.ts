import { logBytes } from '../database/sqlite/write-ahead-log.ts'
import type { LongReads } from '../http/request-context.ts'
import { shuttingDown } from '../problem/problem-error.ts'
import type { ThreadData } from './message.ts'
import type { BodyLimits } from './relayed-body.ts'
import { startThread, type Thread } from './thread.ts'
import { type TurnLimits, turnsOf } from './turns.ts'

/** How much may go on at once, and for how long. */
export interface LongReadLimits extends Omit<TurnLimits, 'answering'>, BodyLimits {
  readonly threads: number
  /** File that a thread runs; that of this program unless given. */
  readonly threadFile?: URL | undefined
  /** How long a thread without work stays. */
  readonly restMs: number
  /**
   * Beyond this size of the database's log, clients that read slower than the rows come are cut: the log grows with each
   * write for as long as somebody reads what was there before.
   */
  readonly logBytes: number
  /** For how long nobody is cut for that. */
  readonly graceMs: number
  /** How often the log is looked at. */
  readonly watchMs: number
}

/** What an academy of a million enrolments needs on two cores, and what its database can bear. */
export const longReadLimits: LongReadLimits = {
  threads: 2,
  perOwner: 4,
  inAll: 16,
  waitingPerOwner: 8,
  waitingInAll: 64,
  waitMs: 10_000,
  // A pager that is read leisurely is a reader, too; who holds a snapshot makes the write-ahead log grow.
  idleMs: 60_000,
  totalMs: 15 * 60_000,
  restMs: 30_000,
  logBytes: 1024 * 1024 * 1024,
  graceMs: 30_000,
  watchMs: 1_000,
}

const slowReason = 'The client reads too slowly while the data changes.'

/**
 * Long reads in threads of their own, which are started when they are needed. Close them with the server: those that go
 * on or wait then throw 503, as any do that come later.
 */
export function openLongReads(
  data: ThreadData,
  limits: LongReadLimits,
): LongReads & { close: () => Promise<void> } {
  const turns = turnsOf({ ...limits, answering: limits.threads })
  const threads = new Set<Thread>()
  let rest: NodeJS.Timeout | undefined
  let watch: NodeJS.Timeout | undefined
  let isClosed = false

  /** One that has nothing to do, else a new one, else the one with the least to do. */
  function freeThread(): Thread {
    const [least] = [...threads]
      .filter((thread) => !thread.isAnswering())
      .sort((one, other) => one.load() - other.load())
    if (least && (least.load() === 0 || threads.size >= limits.threads)) return least
    const thread = startThread(data, limits, () => threads.delete(thread))
    threads.add(thread)
    return thread
  }

  async function close(): Promise<void> {
    isClosed = true
    clearTimeout(rest)
    clearInterval(watch)
    await Promise.all([...threads].map((thread) => thread.close()))
  }

  function watchLog(): void {
    watch ??= setInterval(() => {
      if (logBytes(data.path) <= limits.logBytes) return
      for (const thread of threads) thread.cutSlow(limits.graceMs, slowReason)
    }, limits.watchMs).unref()
  }

  function restLater(): void {
    clearTimeout(rest)
    rest = setTimeout(() => {
      for (const thread of threads) {
        if (thread.load() > 0) continue
        threads.delete(thread)
        void thread.close()
      }
      if (threads.size > 0) {
        restLater()
        return
      }
      clearInterval(watch)
      watch = undefined
    }, limits.restMs).unref()
  }

  return {
    async answer(request, owner, principal) {
      const turn = await turns.take(owner, request.raw.signal)
      try {
        if (isClosed) throw shuttingDown()
        restLater()
        watchLog()
        return await freeThread().answer(request, principal, turn)
      } catch (error) {
        turn.ended()
        throw error
      }
    },
    close,
  }
}
