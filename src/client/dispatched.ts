import type { Dispatcher } from 'undici'

/** An answer over undici. */
export interface Dispatched {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bytes where all of them came together with the head, as short answers do; else a stream. Null for none. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null
}

/** So much of a body is held that nobody has taken yet; the platform waits meanwhile. */
const aheadBytes = 256 * 1024

/**
 * Sends a request through a dispatcher. It throws what undici throws, and so does a stream when it is read; one that is
 * left gives up its connection. This is the half of undici's own `request` that is needed here, and takes half the time:
 * a program that sends thousands of requests spends most of its time on them.
 */
export function dispatched(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal | undefined,
): Promise<Dispatched> {
  const pieces: Uint8Array[] = []
  let held = 0
  let ended = false
  let fault: { readonly cause: unknown } | null = null
  let controller: Dispatcher.DispatchController | null = null
  let wake: (() => void) | null = null

  async function* arriving(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
          held -= piece.byteLength
          yield piece
        }
        if (fault) throw fault.cause
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
          controller?.resume()
        })
      }
    } finally {
      if (!ended && !fault) controller?.abort(new Error('nobody reads the rest'))
    }
  }

  return new Promise((resolve, reject) => {
    const leave = () => controller?.abort(signal?.reason)
    const settle = () => {
      signal?.removeEventListener('abort', leave)
      wake?.()
    }
    signal?.addEventListener('abort', leave)
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started
        if (signal?.aborted) leave()
      },
      onResponseStart(_, status, headers) {
        // What comes before the answer, such as 103.
        if (status < 200) return
        // By then whatever came with the head has been taken apart.
        queueMicrotask(() => resolve({ status, headers, body: ended ? joined(pieces) : arriving() }))
      },
      onResponseData(_, piece) {
        pieces.push(piece)
        held += piece.byteLength
        if (held > aheadBytes) controller?.pause()
        wake?.()
      },
      onResponseEnd() {
        ended = true
        settle()
      },
      onResponseError(_, cause) {
        fault = { cause }
        settle()
        reject(cause)
      },
    })
  })
}

function joined(pieces: readonly Uint8Array[]): Uint8Array | null {
  const [only = null] = pieces
  return pieces.length > 1 ? Buffer.concat(pieces) : only
}
