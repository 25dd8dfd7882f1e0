import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { decodeUtf8, NotUtf8Error } from '../codec/unicode-text.ts'
import { directoriesOf, type Place } from './directories.ts'
import { ConfigError, systemCode } from './errors.ts'

/**
 * Creates a directory and its missing parents, each for its owner only. Throws a ConfigError that names the
 * directory and the variable that moves it.
 */
export function makeDirectory(path: string, variable: string | null): void {
  const missing: string[] = []
  // Node's recursive mkdir loops forever on a file system that reports a missing directory but creates none,
  // such as /proc.
  for (let each = resolve(path); !exists(each); each = dirname(each)) missing.unshift(each)
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 })
    } catch (error) {
      // Another process may have created it.
      if (systemCode(error) !== 'EEXIST' || !exists(each)) throw unwritableError(each, error, variable)
    }
  }
  if (!statSync(path).isDirectory()) {
    throw unwritableError(path, Object.assign(new Error('not a directory'), { code: 'ENOTDIR' }), variable)
  }
}

/** Throws as makeDirectory does. */
export function makeDatabaseDirectory(place: Place, database: string): void {
  makeDirectory(dirname(database), database === directoriesOf(place).database ? 'XDG_DATA_HOME' : null)
}

/** Adds a hint; returns other errors unchanged. */
export function unwritableError(path: string, error: unknown, variable: string | null): unknown {
  const code = systemCode(error)
  if (error instanceof ConfigError || code === undefined || !/^E[A-Z]+$/.test(code)) return error
  return new ConfigError('config_unwritable', `Cannot write ${path}: ${code}`, {
    cause: error,
    ...(variable !== null && { hint: `Set ${variable} to a writable directory` }),
  })
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // Below a file or an unreadable directory: mkdir will fail with the reason.
  }
}

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
