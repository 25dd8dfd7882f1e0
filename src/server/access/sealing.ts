import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
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
import sql from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import { ProblemError } from '../problem-error.ts'

/** AES-256-GCM with the nonce and tag lengths that NIST SP 800-38D §8.2.1 and §5.2.1.2 recommend. */
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const form = /^v1\.([0-9a-f]{16})\.([\w-]+)$/

/**
 * Encrypts the secrets of other systems, so that a copy of the database does not reveal them. A sealed text is bound to
 * its place, such as `integration:canvas:accessToken`. Throws 503 `encryption_unavailable` if the key is missing or
 * wrong.
 */
export interface Sealing {
  /** The first text creates the academy's key. */
  seal(database: Database, place: string, text: string): Promise<string>
  open(place: string, sealed: string): string
  /** Undefined if sealed texts can be opened. */
  trouble(database: Database): Promise<string | undefined>
  /**
   * Makes the next secret create a new key, or use the existing file; texts sealed before may be lost.
   * Returns the id of the previous key.
   */
  forget(database: Database): Promise<{ readonly keyId: string }>
}

interface SealedAcademy {
  readonly path: string
  readonly postgres?: object | undefined
  readonly temporary?: boolean | undefined
  /** On PostgreSQL; all servers of the academy share it. */
  readonly encryptionKeyFile?: string | undefined
}

export function academySealing(academy: SealedAcademy): Sealing {
  return createSealing(sourceOf(academy))
}

function sourceOf({ path, postgres, temporary, encryptionKeyFile }: SealedAcademy): KeySource | undefined {
  if (temporary) return memoryKeySource()
  if (!postgres) return fileKeySource(keyPathOf(path))
  return encryptionKeyFile === undefined ? undefined : fileKeySource(encryptionKeyFile)
}

/**
 * Creates the sealing with the key of a source; without one, as on PostgreSQL without a key file, it refuses
 * to seal.
 */
export function createSealing(source: KeySource | undefined): Sealing {
  function readKey(): SealingKey | undefined {
    if (!source) throw unavailable('Secrets cannot be stored: start the server with --encryption-key-file.')
    try {
      return source.read()
    } catch (error) {
      throw unusableKey(source, error)
    }
  }

  async function requireKey(database: Database): Promise<SealingKey> {
    const known = await findKeyId(database)
    const found = readKey()
    if (known !== undefined) {
      if (!found) throw missingKey(source)
      if (found.id !== known) throw otherKey(source, found, known)
      return found
    }
    let key: SealingKey
    try {
      key = found ?? (source as KeySource).make()
    } catch (error) {
      throw unusableKey(source, error)
    }
    await database.run(sql`
      insert into settings (name, value) values ('sealing_key', ${key.id}) on conflict (name) do nothing`)
    const kept = await findKeyId(database)
    if (kept !== undefined && kept !== key.id) throw otherKey(source, key, kept)
    return key
  }

  return {
    async seal(database, place, text) {
      const key = await requireKey(database)
      return `v1.${key.id}.${encrypt(key, place, text).toString('base64url')}`
    },

    open(place, sealed) {
      const [, id = '', data = ''] = form.exec(sealed) ?? []
      const key = readKey()
      if (!key) throw missingKey(source)
      if (key.id !== id) throw otherKey(source, key, id, ', or set the secret again if the key was replaced')
      try {
        return decrypt(key, place, Buffer.from(data, 'base64url'))
      } catch (error) {
        throw unavailable(`A stored secret (${place}) is damaged: set it again.`, error)
      }
    },

    async forget(database) {
      const keyId = (await findKeyId(database)) ?? ''
      await database.run(sql`delete from settings where name = 'sealing_key'`)
      return { keyId }
    },

    async trouble(database) {
      const known = await findKeyId(database)
      if (known === undefined) return undefined
      try {
        await requireKey(database)
        return undefined
      } catch (error) {
        if (error instanceof ProblemError) return error.message
        throw error
      }
    },
  }
}

function unusableKey(source: KeySource | undefined, error: unknown): unknown {
  return error instanceof KeyFileError
    ? unavailable(`Encryption key file ${source?.shown} ${error.message}.`, error)
    : error
}

function missingKey(source: KeySource | undefined): ProblemError {
  return unavailable(`Encryption key file ${source?.shown} is missing: restore it from where it was kept.`)
}

function otherKey(source: KeySource | undefined, key: SealingKey, id: string, more = ''): ProblemError {
  return unavailable(
    `Encryption key file ${source?.shown} holds another key (${key.id}) than the one that was used (${id}): use that one${more}.`,
  )
}

/** Returns nonce, encrypted text and authentication tag; the place is authenticated, too. */
function encrypt({ bytes }: SealingKey, place: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, bytes, nonce)
  cipher.setAAD(Buffer.from(place))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Throws if it was changed or is of another place. */
function decrypt({ bytes: key }: SealingKey, place: string, bytes: Buffer): string {
  const end = bytes.length - tagBytes
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes))
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(bytes.subarray(end))
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]).toString()
}

async function findKeyId(database: Database): Promise<string | undefined> {
  const row = await database.one<{ value: string }>(
    sql`select value from settings where name = 'sealing_key'`,
  )
  return row?.value
}

function unavailable(detail: string, cause?: unknown): ProblemError {
  return new ProblemError('encryption_unavailable', detail, { cause })
}

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

/** Links a temporary file: readers see a complete key or none, and of concurrent writers one wins. */
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
