import { ProblemError } from '../problem/problem-error.ts'
import { type Piece, piecesAhead } from './message.ts'

/** How long a body may take. */
export interface BodyLimits {
  /** Between two pieces that its reader takes. */
  readonly idleMs: number
  /** From the first to the last. */
  readonly totalMs: number
}

/** What is told to whoever makes the pieces. */
export interface Source {
  /** A piece was taken: one more may come. */
  taken(): void
  /** Nobody reads on. Told once, unless the source itself ended it. */
  left(): void
}

/** A body whose pieces come from elsewhere. */
export interface RelayedBody extends AsyncIterable<Piece> {
  push(piece: Piece): void
  end(): void
  /** What is read next throws this, after the pieces that are there. */
  fail(cause: unknown): void
  /** As if its reader had gone. */
  leave(): void
  /** True while nothing more is made until its reader goes on. */
  isFull(): boolean
  /** Leaves the reader as one who takes too long: what is read next throws 408. */
  cut(why: string): void
}

/**
 * A body whose pieces come from elsewhere, as fast as they are read. A reader who takes nothing for long, or takes too
 * long in all, is left: what is read then throws 408, and nothing is kept for it.
 */
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

  /** A reader who has gone is told nothing: what it has is known to be a part. */
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
    isFull: () => pieces.length >= piecesAhead,
    cut,
  }
}
