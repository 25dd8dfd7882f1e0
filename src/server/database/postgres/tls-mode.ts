import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import type { PostgresUrl } from '../../../codec/postgres-url.ts'
import { DatabaseError } from '../database.ts'

/** TLS options of a connection; false for none. */
export type Encryption = ConnectionOptions | false

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/**
 * Returns the ways to connect that `sslmode` allows, in the order to try them (PostgreSQL, libpq, SSL Support).
 * Certificates are in `~/.postgresql` unless named. Throws DatabaseError for an unknown mode and for unreadable
 * files.
 */
export function encryptionsOf({ shown, host, parameter }: PostgresUrl, home: string): readonly Encryption[] {
  const folder = join(home, '.postgresql')
  const rootName = parameter('sslrootcert')
  const isSystem = rootName === 'system'
  const named = parameter('sslmode') ?? (isSystem ? 'verify-full' : 'prefer')
  const mode = modes.find((mode) => mode === named)
  if (!mode) {
    throw new DatabaseError(shown, `has an unknown sslmode: ${named}`, {
      kind: 'invalid',
      hint: `Use one of: ${modes.join(', ')}`,
    })
  }
  if (isSystem && mode !== 'verify-full') {
    throw new DatabaseError(
      shown,
      `has sslrootcert=system, which requires sslmode=verify-full, not ${mode}`,
      { kind: 'invalid' },
    )
  }
  // A Unix socket is never encrypted.
  if (mode === 'disable' || host.startsWith('/')) return [false]
  const encrypted = { ...clientCertificate(), ...trust(mode) }
  if (mode === 'allow') return [false, encrypted]
  return mode === 'prefer' ? [encrypted, false] : [encrypted]

  /** Returns the options that verify the server's certificate in this mode. */
  function trust(mode: Mode): ConnectionOptions {
    if (isSystem) return {}
    const path = rootName ?? join(folder, 'root.crt')
    if (rootName === undefined && !existsSync(path)) {
      if (!mode.startsWith('verify')) return { rejectUnauthorized: false }
      throw new DatabaseError(shown, `has sslmode=${mode}, which requires a root certificate in ${path}`, {
        hint: 'Name its file with sslrootcert, or use sslrootcert=system for the certificates that this machine trusts',
      })
    }
    if (mode === 'allow' || mode === 'prefer') return { rejectUnauthorized: false }
    const ca = read(path)
    // With a root certificate, libpq treats `require` as `verify-ca`.
    return mode === 'verify-full' ? { ca } : { ca, checkServerIdentity: () => undefined }
  }

  function clientCertificate(): ConnectionOptions {
    const cert = parameter('sslcert') ?? join(folder, 'postgresql.crt')
    if (parameter('sslcert') === undefined && !existsSync(cert)) return {}
    const key = parameter('sslkey') ?? join(folder, 'postgresql.key')
    const pem = { cert: read(cert), key: read(key) }
    if (process.platform !== 'win32' && (statSync(key).mode & 0o007) !== 0) {
      throw new DatabaseError(shown, `cannot be opened: others can read the key ${key}`, {
        hint: `Run \`chmod 600 ${key}\``,
      })
    }
    return pem
  }

  function read(path: string): string {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      const { code } = error as { code?: string }
      throw new DatabaseError(shown, `cannot be opened: ${path} cannot be read (${code})`)
    }
  }
}
