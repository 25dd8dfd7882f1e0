import { answer, bytesOf } from '../../client/decode.ts'
import { ProtocolError, type Target } from '../../client/errors.ts'
import { assertUtf8, NotUtf8Error } from '../../codec/unicode-text.ts'
import type { HttpBody } from '../../contract/http.ts'

/** Length of the longest byte order mark. */
const markBytes = 3
/** Maximum bytes of an incomplete UTF-8 sequence at the end of a piece. */
const maxOpenBytes = 3

/**
 * Converts a body to UTF-8, from the given encoding, else the charset of its Content-Type, else unchanged. A
 * byte order mark of UTF-8 or UTF-16 takes precedence. Throws a ProtocolError on an unknown charset and on
 * invalid bytes.
 */
export async function* decodeCsv(
  body: HttpBody | null,
  contentType: string,
  target: Target,
  encoding?: string,
): AsyncGenerator<Uint8Array> {
  const [, said = 'utf-8'] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType) ?? []
  const declared = encoding ?? said
  let decoder: TextDecoder | null | undefined
  let start = Buffer.alloc(0)

  function decoded(data: Uint8Array, stream: boolean): Uint8Array {
    decoder ??= decoder === undefined ? decoderFor(declared, data, target) : null
    if (decoder === null) return data
    try {
      return Buffer.from(decoder.decode(data, { stream }))
    } catch (cause) {
      const message = `${answer(target)} cannot be read: it is not ${declared}`
      throw new ProtocolError(target, 'unexpected_type', message, cause)
    }
  }

  for await (const piece of body === null ? [] : bytesOf(body)) {
    const data = decoder === undefined ? Buffer.concat([start, piece]) : piece
    start = Buffer.from(data.subarray(0, markBytes))
    if (decoder !== undefined || data.length >= markBytes) yield decoded(data, true)
  }
  yield decoded(decoder === undefined ? start : Buffer.alloc(0), false)
}

/** Returns the decoder of a charset; null for UTF-8. */
function decoderFor(declared: string, start: Uint8Array, target: Target): TextDecoder | null {
  const mark = Buffer.from(start.subarray(0, markBytes)).toString('hex')
  if (mark === 'efbbbf') return null
  // Without a mark, `utf-16` is little-endian (WHATWG Encoding Standard §4.2).
  const charset = /^utf-?16$/i.test(declared) && mark.startsWith('feff') ? 'utf-16be' : declared
  try {
    const decoder = new TextDecoder(charset, { fatal: true })
    return decoder.encoding === 'utf-8' ? null : decoder
  } catch (cause) {
    const said = JSON.stringify(declared)
    throw new ProtocolError(
      target,
      'unexpected_type',
      `${answer(target)} has the unsupported charset ${said}`,
      cause,
    )
  }
}

/** Passes UTF-8 through. Throws a ProtocolError with the place of the first invalid sequence. */
export async function* utf8Only(
  source: AsyncIterable<Uint8Array>,
  target: Target,
): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0)
  let passed = 0
  try {
    for await (const piece of source) {
      const data = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const end = data.length - openBytes(data)
      assertUtf8(data.subarray(0, end), passed)
      if (end > 0) yield data.subarray(0, end)
      passed += end
      rest = Buffer.from(data.subarray(end))
    }
    assertUtf8(rest, passed)
  } catch (error) {
    if (!(error instanceof NotUtf8Error)) throw error
    throw new ProtocolError(
      target,
      'unexpected_type',
      `${answer(target)} cannot be read: ${error.message}`,
      error,
    )
  }
}

/** Counts the bytes of an incomplete sequence at the end. */
function openBytes(data: Uint8Array): number {
  for (let count = 1; count <= maxOpenBytes; count += 1) {
    const byte = data[data.length - count] ?? 0
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > count ? count : 0
  }
  return 0
}
