import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'

/** The same bytes, compressed as they come (RFC 1952). A fault of the source is thrown on. */
export function gzipped(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: true })
  const gzip = createGzip()
  source.on('error', (error) => gzip.destroy(error))
  // A reader that stops early lets go of the source, too.
  gzip.on('close', () => source.destroy())
  return source.pipe(gzip)
}
