import { UsageError } from '../terminal/errors.ts'

/** Maximum length of an encoding's name; the longest that the standard has is 19. */
const maxLabel = 40
/** Bytes between 0x80 and 0x9F that text in Windows-1252 often has: `€`, `…`, quotation marks, dashes and `™`. */
const usualBytes: ReadonlySet<number> = new Set([0x80, 0x85, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0x99])
const lineFeed = 0x0a

/**
 * The standard name of the encoding that `--encoding` names (WHATWG Encoding Standard §4.2), such as `shift_jis` for
 * `sjis`. Throws a UsageError if it is not known.
 */
export function requireCharset(label: string | undefined): string | undefined {
  if (label === undefined) return undefined
  try {
    if (label.length <= maxLabel) return new TextDecoder(label).encoding
  } catch {}
  throw new UsageError(`--encoding is not a known encoding: ${label.slice(0, maxLabel)}`, {
    hint: 'Use a name such as utf-8, windows-1252, shift_jis, macintosh, euc-jp, big5 or gb18030',
  })
}

/** The first byte that shows text in another encoding than Windows-1252, and its line; null if there is none. */
export async function unusualByteIn(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly byte: number; readonly line: number } | null> {
  let line = 1
  for await (const piece of bytes) {
    for (const byte of piece) {
      if (byte === lineFeed) line += 1
      else if (byte >= 0x80 && byte <= 0x9f && !usualBytes.has(byte)) return { byte, line }
    }
  }
  return null
}

/** Number of bytes to inspect for UTF-16. */
const sampleBytes = 4096

/**
 * Detects the charset of a file from its bytes as they pass: a byte order mark, else the zero bytes that Latin
 * letters have in UTF-16, else UTF-8 if all bytes are valid. `end` returns null for any other.
 */
export function charsetFinder(): { take(bytes: Uint8Array): void; end(): string | null } {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let sample = Buffer.alloc(0)
  let valid = true

  function check(bytes: Uint8Array, stream: boolean): void {
    if (!valid) return
    try {
      decoder.decode(bytes, { stream })
    } catch {
      valid = false
    }
  }

  return {
    take(bytes) {
      if (sample.length < sampleBytes) sample = Buffer.concat([sample, bytes.subarray(0, sampleBytes)])
      check(bytes, true)
    },
    end() {
      check(new Uint8Array(), false)
      return wideIn(sample) ?? (valid ? 'utf-8' : null)
    },
  }
}

function wideIn(sample: Buffer): string | null {
  const mark = sample.subarray(0, 2).toString('hex')
  if (mark === 'fffe') return 'utf-16le'
  if (mark === 'feff') return 'utf-16be'
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = sample.length / 8
  if (odd > many && odd > even * 4) return 'utf-16le'
  return even > many && even > odd * 4 ? 'utf-16be' : null
}

/** Decodes bytes in a charset, chunk by chunk, without the byte order mark. Throws a TypeError on invalid bytes. */
export async function* decoded(bytes: AsyncIterable<Uint8Array>, charset: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(charset, { fatal: true })
  for await (const piece of bytes) yield decoder.decode(piece, { stream: true })
  yield decoder.decode()
}
