import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import { ProblemError } from '../problem-error.ts'
import {
  fileKeySource,
  KeyFileError,
  type KeySource,
  keyPathOf,
  memoryKeySource,
  type SealingKey,
} from './key-file.ts'

/** AES-256-GCM with the nonce and tag lengths that NIST SP 800-38D §8.2.1 and §5.2.1.2 recommend. */
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const form = /^v1\.([0-9a-f]{16})\.([\w-]+)$/

/**
 * Encrypts the secrets of other systems before they are stored, so that a copy of the database does not
 * reveal them. A sealed text is bound to its place, such as `integration:canvas:accessToken`, and cannot be
 * opened for another one. Throws 503 `encryption_unavailable` if the key is missing or wrong.
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
  /** It ends with its process. */
  readonly temporary?: boolean | undefined
  /** On PostgreSQL; all servers of the academy share it. */
  readonly encryptionKeyFile?: string | undefined
}

/**
 * Creates the sealing with the key of an academy: beside its file, or in the key file of its servers on
 * PostgreSQL.
 */
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

/** Returns the error for a wrong key; the only remedy is to restore the right one. */
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

/** Decrypts the result of `encrypt`; throws if it was changed or is of another place. */
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
