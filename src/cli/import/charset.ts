/** How the bytes of a text file are to be read. */
export type Charset = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** The charsets that a file may be said to be in, by the names that people use. */
export const charsetNames: ReadonlyMap<string, Charset> = new Map([
  ['utf-8', 'utf-8'],
  ['utf-16', 'utf-16le'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['windows-1252', 'windows-1252'],
  ['latin1', 'windows-1252'],
])

/** So much of a file shows whether it is UTF-16. */
const sampleBytes = 4096

/**
 * Finds out the charset of a file from its bytes as they go by: a byte order mark, else the zero bytes that Latin letters
 * have in UTF-16, else UTF-8 if all of it is that, else Windows-1252, in which every byte is something.
 */
export function charsetFinder(): { take(bytes: Uint8Array): void; end(): Charset } {
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
      return wideIn(sample) ?? (valid ? 'utf-8' : 'windows-1252')
    },
  }
}

function wideIn(sample: Buffer): Charset | null {
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

/** The text of bytes in a charset, piece by piece, without its byte order mark. Throws TypeError on what is none. */
export async function* decoded(bytes: AsyncIterable<Uint8Array>, charset: Charset): AsyncGenerator<string> {
  const decoder = new TextDecoder(charset, { fatal: true })
  for await (const piece of bytes) yield decoder.decode(piece, { stream: true })
  yield decoder.decode()
}
