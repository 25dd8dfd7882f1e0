import { ProblemError } from '../problem-error.ts'
import type { Piece } from './message.ts'

export interface BodyLimits {
  /** Between two reads. */
  readonly idleMs: number
  /** For the whole body. */
  readonly totalMs: number
}

export interface Source {
  /** A piece was read; one more may be sent. */
  onRead(): void
  /** The reader is gone. Called at most once, and not after the source has ended the body. */
  onGone(): void
}

/** An error is thrown to the reader. */
type End = { readonly cause: unknown } | 'complete'

/** Pushed by a source and read by a client. Cuts a client that exceeds the time limits. */
export class RelayedBody implements AsyncIterableIterator<Piece> {
  readonly #source: Source
  readonly #idle: NodeJS.Timeout
  readonly #late: NodeJS.Timeout
  readonly #pieces: Piece[] = []
  #pending: PromiseWithResolvers<IteratorResult<Piece>> | undefined
  #end: End | undefined

  constructor(source: Source, { idleMs, totalMs }: BodyLimits) {
    this.#source = source
    this.#idle = setTimeout(() => {
      if (this.#pending) this.#idle.refresh()
      else this.#cut(`The client read nothing of the response for ${idleMs / 1000} s.`)
    }, idleMs).unref()
    this.#late = setTimeout(
      () => this.#cut(`The client took longer than ${totalMs / 1000} s for the response.`),
      totalMs,
    ).unref()
  }

  push(piece: Piece): void {
    if (this.#end) return
    const pending = this.#pending
    if (!pending) {
      this.#pieces.push(piece)
      return
    }
    this.#pending = undefined
    this.#countRead()
    pending.resolve({ done: false, value: piece })
  }

  /** After the buffered pieces. */
  complete(): void {
    this.#close('complete')
  }

  /** Reads throw `cause` after the buffered pieces. */
  fail(cause: unknown): void {
    this.#close({ cause })
  }

  /** As if the reader were gone. */
  abandon(): void {
    this.#drop('complete')
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Piece>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) {
      if (!this.#end) this.#countRead()
      return { done: false, value: piece }
    }
    if (this.#end === 'complete') return { done: true, value: undefined }
    if (this.#end) throw this.#end.cause
    this.#pending = Promise.withResolvers()
    return this.#pending.promise
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.abandon()
    return { done: true, value: undefined }
  }

  /** The next read throws 408. */
  #cut(why: string): void {
    this.#drop({ cause: new ProblemError('request_timeout', why) })
  }

  #countRead(): void {
    this.#source.onRead()
    this.#idle.refresh()
  }

  /** Discards what is buffered, and stops the source. */
  #drop(end: End): void {
    if (this.#end) return
    this.#pieces.length = 0
    this.#close(end)
    this.#source.onGone()
  }

  #close(end: End): void {
    if (this.#end) return
    this.#end = end
    clearTimeout(this.#idle)
    clearTimeout(this.#late)
    const pending = this.#pending
    this.#pending = undefined
    if (end === 'complete') pending?.resolve({ done: true, value: undefined })
    else pending?.reject(end.cause)
  }
}
