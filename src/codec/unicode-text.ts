import { isUtf8 } from 'node:buffer'

export class NotUtf8Error extends Error {
  override readonly name = 'NotUtf8Error'
  /** Offset of the first invalid sequence, in bytes. */
  readonly offset: number

  /** @param before number of bytes that came before these */
  constructor(bytes: Uint8Array, offset: number, before = 0) {
    const byte = (bytes[offset] ?? 0).toString(16).toUpperCase().padStart(2, '0')
    const wide = before === 0 && /^(fffe|feff)/.test(Buffer.from(bytes.subarray(0, 2)).toString('hex'))
    super(wide ? 'it is UTF-16, not UTF-8' : `byte 0x${byte} at offset ${before + offset} is not UTF-8`)
    this.offset = before + offset
  }
}

/** Removes a byte order mark. Throws NotUtf8Error instead of inserting U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  assertUtf8(bytes)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Throws NotUtf8Error unless the bytes are UTF-8; `before` is the number of bytes that came before these. */
export function assertUtf8(bytes: Uint8Array, before = 0): void {
  if (!isUtf8(bytes)) throw new NotUtf8Error(bytes, faultAt(bytes), before)
}

/** True for text that every database can store: well-formed Unicode without U+0000. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function faultAt(bytes: Uint8Array): number {
  let at = 0
  for (let lead = bytes[0]; lead !== undefined; lead = bytes[at]) {
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    if (length > 1 && !isUtf8(bytes.subarray(at, at + length))) return at
    at += length
  }
  return at
}
