import { hash, randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { basename } from 'node:path'

const keyBytes = 32
const maxFileBytes = 1024
/** Error codes of file systems without hard links. */
const noLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

export interface SealingKey {
  /** Does not reveal the key. */
  readonly id: string
  readonly bytes: Uint8Array
}

/** The message continues the name of the file. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

export interface KeySource {
  /** Name in messages. */
  readonly shown: string
  /** Undefined if none exists. Throws KeyFileError if it is unusable. */
  read(): SealingKey | undefined
  /** Returns the existing key if there is one. Throws KeyFileError. */
  make(): SealingKey
}

/** Mode 0600: one line of base64url. */
export function fileKeySource(path: string): KeySource {
  return {
    shown: basename(path),
    read: () => readKeyFile(path),
    make: () => {
      makeKeyFile(path)
      const key = readKeyFile(path)
      if (!key) throw new KeyFileError('disappeared while it was made')
      return key
    },
  }
}

/** For an academy that ends with its process. */
export function memoryKeySource(): KeySource {
  let key: SealingKey | undefined
  return {
    shown: 'memory',
    read: () => key,
    make: () => {
      key ??= keyOf(randomBytes(keyBytes))
      return key
    },
  }
}

/**
 * Returns the key file of a database, beside it, so that a copy of the database alone does not reveal its
 * secrets.
 */
export function keyPathOf(database: string): string {
  return `${database}.key`
}

function keyOf(bytes: Uint8Array): SealingKey {
  return {
    id: hash('sha256', Buffer.concat([Buffer.from('learnctl key id'), bytes]), 'hex').slice(0, 16),
    bytes,
  }
}

function readKeyFile(path: string): SealingKey | undefined {
  let file: number | undefined
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer. Windows has no such flag.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    requirePrivate(fstatSync(file))
    const bytes = Buffer.alloc(maxFileBytes + 1)
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).trim()
    const key = Buffer.from(text, 'base64url')
    if (key.length === keyBytes && key.toString('base64url') === text) return keyOf(key)
    throw new KeyFileError(`is damaged: it must hold ${keyBytes} bytes in base64url`)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return undefined
    throw error instanceof KeyFileError
      ? error
      : new KeyFileError(`cannot be read: ${code}`, { cause: error })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function requirePrivate(found: Stats): void {
  if (found.isDirectory()) throw new KeyFileError('is a directory')
  if (!found.isFile()) throw new KeyFileError('is not a regular file')
  const own = process.getuid?.()
  // Windows has no such owners and modes; root may read every file.
  if (own === undefined) return
  if (own !== 0 && found.uid !== own && found.uid !== 0) throw new KeyFileError('belongs to another user')
  if ((found.mode & 0o077) === 0) return
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0')
  throw new KeyFileError(`can be read by others (mode ${mode}): run chmod 600 on it`)
}

/**
 * Writes a temporary file and links it: readers see a complete key or none, and of concurrent writers one
 * wins.
 */
function makeKeyFile(path: string): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}.new`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeSync(file, `${randomBytes(keyBytes).toString('base64url')}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    name(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    throw new KeyFileError(`cannot be written: ${codeOf(error)}`, { cause: error })
  } finally {
    rmSync(draft, { force: true })
  }
}

function name(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!noLinks.includes(codeOf(error))) throw error
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
