import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { decodeUtf8, NotUtf8Error } from '../codec/unicode-text.ts'
import { systemCode } from './errors.ts'

/** A file that cannot be read; the message is the reason alone, such as `it is not a regular file`. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError'
  /** The system's code, such as `ENOENT`; null if the content or kind of the file is the reason. */
  readonly code: string | null

  constructor(code: string | null, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.code = code
  }
}

/**
 * Reads a text file (UTF-8, with or without a byte order mark) that the user did not name. Checks its kind
 * and size first: a repository can have a link to a device, a pipe or gigabytes in its place. Throws
 * UnreadableFileError.
 */
export function readRegularFile(path: string, limitBytes: number): string {
  let file: number | null = null
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer. Windows has no such flag.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = fstatSync(file)
    if (found.isDirectory()) throw new UnreadableFileError(null, 'it is a directory')
    if (!found.isFile()) throw new UnreadableFileError(null, 'it is not a regular file')
    const tooLarge = `it is larger than ${limitBytes / 1024} KiB`
    if (found.size > limitBytes) throw new UnreadableFileError(null, tooLarge)
    // The file may grow meanwhile, and files in /proc claim to be empty.
    const bytes = Buffer.allocUnsafe(limitBytes + 1)
    const size = readWhole(file, bytes)
    if (size > limitBytes) throw new UnreadableFileError(null, tooLarge)
    return decodeUtf8(bytes.subarray(0, size))
  } catch (cause) {
    if (cause instanceof NotUtf8Error) throw new UnreadableFileError(null, cause.message, { cause })
    const code = systemCode(cause)
    throw code === undefined || cause instanceof UnreadableFileError
      ? cause
      : new UnreadableFileError(code, code, { cause })
  } finally {
    if (file !== null) closeSync(file)
  }
}

function readWhole(file: number, bytes: Buffer): number {
  let size = 0
  for (let more = -1; more !== 0 && size < bytes.length; size += more)
    more = readSync(file, bytes, size, bytes.length - size, null)
  return size
}
