import { logBytes } from '../database/sqlite/connection.ts'
import type { LongReads } from '../http/request-context.ts'
import { shuttingDown } from '../problem-error.ts'
import type { ThreadData } from './message.ts'
import { type BodyLimits, ReaderThread } from './thread.ts'
import { type TurnLimits, Turns } from './turns.ts'

/** Limits of long reads. */
export interface LongReadLimits extends Omit<TurnLimits, 'answering'>, BodyLimits {
  readonly threads: number
  /** File that a thread runs; default: this program's. */
  readonly threadFile?: URL | undefined
  /** Time until an idle thread is closed. */
  readonly restMs: number
  /** Size of the write-ahead log beyond which slow clients are cut: it grows with each write while a snapshot is read. */
  readonly logBytes: number
  /** Minimum age of a read before it is cut. */
  readonly graceMs: number
  /** Interval of checks of the log's size. */
  readonly watchMs: number
}

/** Limits for an academy of a million enrolments on two cores. */
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
  restMs: 30_000,
  logBytes: 1024 * 1024 * 1024,
  graceMs: 30_000,
  watchMs: 1_000,
}

const slowReason = 'The client reads too slowly while the data changes.'

/** Answers long reads in threads, started on demand. After `close`, running, waiting and later reads throw 503. */
export function openLongReads(
  data: ThreadData,
  limits: LongReadLimits,
): LongReads & { close: () => Promise<void> } {
  const turns = new Turns({ ...limits, answering: limits.threads })
  const threads = new Set<ReaderThread>()
  let rest: NodeJS.Timeout | undefined
  let watch: NodeJS.Timeout | undefined
  let isClosed = false

  /** Returns an idle thread, else a new one, else the one with the fewest requests. */
  function freeThread(): ReaderThread {
    const [least] = [...threads]
      .filter((thread) => !thread.isAnswering())
      .sort((one, other) => one.load() - other.load())
    if (least && (least.load() === 0 || threads.size >= limits.threads)) return least
    const thread = new ReaderThread(data, limits, () => threads.delete(thread))
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
