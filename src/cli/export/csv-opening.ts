import { answer } from '../../client/decode.ts'
import { ProtocolError, type Target } from '../../client/errors.ts'

/** How much of a body is looked at before any of it is passed on. */
const openingBytes = 256

/**
 * The bytes of what a platform elsewhere calls CSV, as they come. Throws a ProtocolError, before the first of them, on a
 * web page, on JSON, and on UTF-16, in which no formula would be found; after the last of them where all that came is a
 * single line of a single cell, which is a message and no export.
 */
export async function* csvOnly(bytes: AsyncIterable<Uint8Array>, target: Target): AsyncGenerator<Uint8Array> {
  let head: Buffer | null = Buffer.alloc(0)
  try {
    for await (const piece of bytes) {
      if (head === null) {
        yield piece
        continue
      }
      head = Buffer.concat([head, piece])
      if (head.length < openingBytes) continue
      assertOpening(head, target)
      yield head
      head = null
    }
  } catch (error) {
    // A body that breaks off is passed on as far as it came, however short that is.
    if (head === null || head.length === 0) throw error
    assertOpening(head, target)
    yield head
    throw error
  }
  if (head === null || head.length === 0) return
  assertOpening(head, target)
  if (!/[,;\t|\n]/.test(head.toString('utf8').trim())) throw notCsv(target, 'a line of text, not CSV')
  yield head
}

function assertOpening(head: Buffer, target: Target): void {
  if (head.subarray(0, openingBytes).includes(0)) throw notCsv(target, 'UTF-16 or binary, not CSV in UTF-8')
  const text = head.toString('utf8', 0, openingBytes).replace(/^\uFEFF/, '')
  if (/^\s*<[!?a-z]/i.test(text)) throw notCsv(target, 'a web page, not CSV')
  if (/^\s*[{[]\s*["{}[\]]/.test(text)) throw notCsv(target, 'JSON, not CSV')
}

function notCsv(target: Target, what: string): ProtocolError {
  return new ProtocolError(target, 'unexpected_type', `${answer(target)} is ${what}`)
}
