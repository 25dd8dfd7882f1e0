import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'

/** Compresses bytes as a stream (RFC 1952). Throws the source's errors. */
export function compress(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: true })
  const gzip = createGzip()
  source.on('error', (error) => gzip.destroy(error))
  // Destroy the source if the reader stops early.
  gzip.on('close', () => source.destroy())
  return source.pipe(gzip)
}
