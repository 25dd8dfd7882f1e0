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
const maximumFileBytes = 1024
/** What a file system says that has no hard links. */
const noLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** The key that an academy's secrets are sealed with. */
export interface SealingKey {
  /** Tells it apart from other keys, and nothing of what it is. */
  readonly id: string
  readonly bytes: Uint8Array
}

/** A key file that is there and cannot be used; the message continues the name of the file. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

/** Where an academy's key is. */
export interface KeySource {
  /** What messages call it. */
  readonly shown: string
  /** The key; undefined where there is none yet. Throws KeyFileError where it cannot be used. */
  read(): SealingKey | undefined
  /** Makes a key where there is none, and returns the one that is there in the end. Throws KeyFileError. */
  make(): SealingKey
}

/** A key in a file of its own, mode 0600: one line of base64url. */
export function keyFile(path: string): KeySource {
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

/** A key that goes with its process, as the academy does whose secrets it seals. */
export function passingKey(): KeySource {
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

/** Where the key of a database file is: beside it, so that whoever copies the file alone cannot read its secrets. */
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
    // Without O_NONBLOCK, opening a pipe waits for somebody to write into it; Windows has no such flag.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    requirePrivate(fstatSync(file))
    const bytes = Buffer.alloc(maximumFileBytes + 1)
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
  // Windows has neither owners nor modes of this kind; root may read anybody's.
  if (own === undefined) return
  if (own !== 0 && found.uid !== own && found.uid !== 0) throw new KeyFileError('belongs to another user')
  if ((found.mode & 0o077) === 0) return
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0')
  throw new KeyFileError(`can be read by others (mode ${mode}): run chmod 600 on it`)
}

/** Written under another name and named in one step: whoever looks sees a whole key or none, and of two makers one wins. */
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
