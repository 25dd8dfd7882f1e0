import { ProblemError } from '../problem-error.ts'
import { maxPiecesAhead, type Piece } from './message.ts'

/** Time limits of a body. */
export interface BodyLimits {
  /** Maximum time between two reads. */
  readonly idleMs: number
  /** Maximum time for the whole body. */
  readonly totalMs: number
}

/** Receives notifications about the reader. */
export interface Source {
  /** A piece was read; one more may be sent. */
  taken(): void
  /** The reader is gone. Called at most once, and not after the source has ended the body. */
  left(): void
}

/** A body that is pushed by a source and read by a client. */
export interface RelayedBody extends AsyncIterable<Piece> {
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
