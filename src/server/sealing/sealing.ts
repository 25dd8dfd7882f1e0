import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { KeyFileError, type KeySource, type SealingKey } from './key-file.ts'

/** AES-256 in Galois/counter mode with the nonce and tag that NIST SP 800-38D §8.2.1 and §5.2.1.2 ask for. */
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const form = /^v1\.([0-9a-f]{16})\.([\w-]+)$/

/**
 * Seals the secrets of other systems before they are stored: who has the database without its key cannot read them. A sealed
 * text is bound to its place, such as `integration:canvas:accessToken`: it opens nowhere else. All of them throw 503
 * `encryption_unavailable` where the key is missing or another one.
 */
export interface Sealing {
  /** The text as it may be stored. The first one makes the academy's key. */
  seal(database: Database, place: string, text: string): Promise<string>
  /** The text that was sealed for this place. */
  open(place: string, sealed: string): string
  /** What keeps sealed texts of this academy from being opened; undefined where nothing does. */
  trouble(database: Database): Promise<string | undefined>
  /**
   * Lets the next secret make a new key, or take the one that is there: what was sealed before may never be opened again.
   * Says which key there was.
   */
  forget(database: Database): Promise<{ readonly keyId: string }>
}

/** Sealing with the key of this source; without one, as on PostgreSQL without a key file, nothing can be sealed. */
export function sealingWith(source: KeySource | undefined): Sealing {
  function keyNow(): SealingKey | undefined {
    if (!source) throw unavailable('Secrets cannot be stored: start the server with --encryption-key-file.')
    try {
      return source.read()
    } catch (error) {
      throw unusable(error)
    }
  }

  function unusable(error: unknown): unknown {
    return error instanceof KeyFileError
      ? unavailable(`Encryption key file ${source?.shown} ${error.message}.`, error)
      : error
  }

  function missing(): ProblemError {
    return unavailable(`Encryption key file ${source?.shown} is missing: restore it from where it was kept.`)
  }

  /** What can be done besides bringing back the key that was used is no use where the academy still has it as its own. */
  function other(key: SealingKey, id: string, more = ''): ProblemError {
    return unavailable(
      `Encryption key file ${source?.shown} holds another key (${key.id}) than the one that was used (${id}): use that one${more}.`,
    )
  }

  async function keyOf(database: Database): Promise<SealingKey> {
    const known = await knownKeyId(database)
    const found = keyNow()
    if (known !== undefined) {
      if (!found) throw missing()
      if (found.id !== known) throw other(found, known)
      return found
    }
    let key: SealingKey
    try {
      key = found ?? (source as KeySource).make()
    } catch (error) {
      throw unusable(error)
    }
    await database.run(sql`
      insert into settings (name, value) values ('sealing_key', ${key.id}) on conflict (name) do nothing`)
    const kept = await knownKeyId(database)
    if (kept !== undefined && kept !== key.id) throw other(key, kept)
    return key
  }

  return {
    async seal(database, place, text) {
      const { id, bytes } = await keyOf(database)
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, bytes, nonce)
      cipher.setAAD(Buffer.from(place))
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `v1.${id}.${Buffer.concat(parts).toString('base64url')}`
    },

    open(place, sealed) {
      const [, id = '', data = ''] = form.exec(sealed) ?? []
      const key = keyNow()
      if (!key) throw missing()
      if (key.id !== id) throw other(key, id, ', or set the secret again if the key was replaced')
      const bytes = Buffer.from(data, 'base64url')
      const end = bytes.length - tagBytes
      try {
        const decipher = createDecipheriv(algorithm, key.bytes, bytes.subarray(0, nonceBytes))
        decipher.setAAD(Buffer.from(place))
        decipher.setAuthTag(bytes.subarray(end))
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]).toString()
      } catch (error) {
        throw unavailable(`A stored secret (${place}) is damaged: set it again.`, error)
      }
    },

    async forget(database) {
      const keyId = (await knownKeyId(database)) ?? ''
      await database.run(sql`delete from settings where name = 'sealing_key'`)
      return { keyId }
    },

    async trouble(database) {
      const known = await knownKeyId(database)
      if (known === undefined) return undefined
      try {
        await keyOf(database)
        return undefined
      } catch (error) {
        if (error instanceof ProblemError) return error.message
        throw error
      }
    },
  }
}

async function knownKeyId(database: Database): Promise<string | undefined> {
  const row = await database.one<{ value: string }>(
    sql`select value from settings where name = 'sealing_key'`,
  )
  return row?.value
}

function unavailable(detail: string, cause?: unknown): ProblemError {
  return new ProblemError('encryption_unavailable', detail, { cause })
}
