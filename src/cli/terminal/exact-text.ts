import { visibleDocument } from '../../codec/visible.ts'
import { type Output, write } from './io.ts'

/** Takes what others wrote: bytes stay as they are in a pipe; on a terminal nothing in them is obeyed. */
export interface ExactText {
  write(piece: string | Uint8Array): Promise<void>
  /** Writes what was held back of a character or a line end that was not there whole. */
  end(): Promise<void>
}

/** Writes text of others to a stream, which a terminal shows with its control characters escaped. */
export function exactText(stream: Output, mask: (text: string) => string = (text) => text): ExactText {
  if (!stream.isTTY) return { write: (piece) => write(stream, piece), end: async () => {} }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let held = ''
  const show = (text: string, last: boolean) => {
    const whole = held + text
    // Its line feed may be in the next piece.
    held = !last && whole.endsWith('\r') ? '\r' : ''
    return write(stream, mask(visibleDocument(held === '' ? whole : whole.slice(0, -1))))
  }
  return {
    write: (piece) =>
      show(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }), false),
    end: () => show(decoder.decode(), true),
  }
}
