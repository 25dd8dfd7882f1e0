import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, systemCode } from './errors.ts'
import { type LockClock, withLock } from './lock.ts'

interface Stored {
  /** Scheme, host and port (RFC 6454), such as `https://academy.example.org`. */
  readonly origin: string
  /** ISO 8601, UTC. */
  readonly storedAt: string
}

/** An API key at rest. */
export interface StoredKey extends Stored {
  readonly kind: 'api_key'
  readonly value: string
}

/** What signing in by OAuth 2.0 led to, with all that renewing and revoking it takes (RFC 6749 §5.1, RFC 7009). */
export interface StoredTokens extends Stored {
  readonly kind: 'oauth'
  readonly accessToken: string
  readonly refreshToken: string | null
  /** By the server's clock, ISO 8601 in UTC; null where the server did not say. */
  readonly expiresAt: string | null
  /** How long the access token lasts from its making; null where the server did not say. */
  readonly lifetimeSeconds: number | null
  /** The server's clock less this machine's, in milliseconds. */
  readonly skewMs: number
  /** What was granted, which may be less than was asked for. */
  readonly scopes: readonly string[]
  readonly issuer: string
  readonly clientId: string
  /** Of a confidential client (RFC 6749 §2.1). */
  readonly clientSecret?: string
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string | null
}

/** A credential at rest, bound to the one origin it may be sent to. */
export type StoredCredential = StoredKey | StoredTokens

/** A platform elsewhere. */
export interface RemoteProfile {
  readonly url: string
  readonly credential?: StoredCredential
}

/** An academy of one's own: a SQLite file, served in this process. */
export interface LocalProfile {
  readonly database: string
}

/** What a name stands for. */
export type Profile = RemoteProfile | LocalProfile

/** All profiles by name, and which of them is active. */
export interface Profiles {
  readonly active: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

/** Where profiles are kept. Reading is plain and quick; changing is atomic and safe between processes. */
export interface ProfileStore {
  readonly path: string
  /** Throws a ConfigError when the file is corrupt or unreadable; no file means no profiles. */
  read(): Profiles
  /** Applies `change` to what is stored at that moment, under a lock, and gives back the result. */
  change(change: (profiles: Profiles) => Profiles): Promise<Profiles>
}

/** The names a profile may have: letters, digits, `-` and `_`. */
export const profileName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** True for a profile that is a database in this process. */
export function isLocal(profile: Profile): profile is LocalProfile {
  return 'database' in profile
}

/** What of a stored credential is sent as the bearer. */
export function bearerOf(stored: StoredCredential): { kind: 'api_key' | 'access_token'; value: string } {
  return stored.kind === 'oauth'
    ? { kind: 'access_token', value: stored.accessToken }
    : { kind: 'api_key', value: stored.value }
}

/** The profiles in `profiles.json` of `directory`: the directory 0700, the file 0600 after every write. */
export function createProfileStore(directory: string, clock: LockClock): ProfileStore {
  const path = join(directory, 'profiles.json')
  return {
    path,
    read: () => readProfiles(path),
    change: async (change) => {
      makePrivate(directory)
      try {
        return await withLock(`${path}.lock`, clock, async () => {
          const changed = change(readProfiles(path))
          await write(directory, changed)
          return changed
        })
      } catch (error) {
        throw unwritable(path, error)
      }
    },
  }
}

async function write(directory: string, profiles: Profiles): Promise<void> {
  // conf brings a schema validator along that costs 40 ms: a price for writing only.
  const { default: Conf } = await import('conf')
  const conf = new Conf({
    cwd: directory,
    configName: 'profiles',
    projectSuffix: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  })
  conf.store = { version: 1, ...profiles }
}

function readProfiles(path: string): Profiles {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    // ENOTDIR: the directory itself is missing or is a file, which only a write has to mind.
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR')
      return { active: null, profiles: {} }
    throw new ConfigError('config_unreadable', `cannot read ${path}: ${systemCode(error)}`, { cause: error })
  }
  return parse(text, path)
}

function parse(text: string, path: string): Profiles {
  const corrupt = (what: string, cause?: unknown) =>
    new ConfigError('config_invalid', `${path} is damaged: ${what}`, {
      cause,
      hint: `mend the file, or move it away and start anew: mv '${path}' '${path}.damaged'`,
    })
  let stored: unknown
  try {
    stored = JSON.parse(text)
  } catch (error) {
    throw corrupt(text.trim() === '' ? 'it is empty' : 'it is not JSON', error)
  }
  if (!isRecord(stored) || !isRecord(stored['profiles'])) throw corrupt('it holds no "profiles"')
  if (stored['version'] !== 1) throw corrupt(`its version is ${JSON.stringify(stored['version'])}, not 1`)
  const wrong = Object.entries(stored['profiles']).find(([name, value]) => !isProfile(name, value))
  if (wrong) throw corrupt(`profile ${JSON.stringify(wrong[0])} is neither an address nor a database`)
  const active = stored['active']
  return {
    active: typeof active === 'string' ? active : null,
    // Each entry has been looked at above.
    profiles: stored['profiles'] as Readonly<Record<string, Profile>>,
  }
}

function isProfile(name: string, value: unknown): value is Profile {
  if (!profileName.test(name) || !isRecord(value)) return false
  if (typeof value['database'] === 'string') return true
  return typeof value['url'] === 'string' && URL.canParse(value['url']) && isCredential(value['credential'])
}

function isCredential(value: unknown): boolean {
  if (value === undefined) return true
  if (!isRecord(value) || typeof value['origin'] !== 'string') return false
  return typeof value[value['kind'] === 'oauth' ? 'accessToken' : 'value'] === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function makePrivate(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const mode = statSync(directory).mode
    // A sticky directory is one that everybody shares, such as /tmp: not ours to close.
    if ((mode & 0o077) !== 0 && (mode & 0o1000) === 0) chmodSync(directory, 0o700)
  } catch (error) {
    throw unwritable(directory, error)
  }
}

function unwritable(path: string, error: unknown): unknown {
  const code = systemCode(error)
  if (error instanceof ConfigError || code === undefined || !/^E[A-Z]+$/.test(code)) return error
  return new ConfigError('config_unwritable', `cannot write ${path}: ${code}`, {
    cause: error,
    hint: 'set LEARNCTL_CONFIG_DIR to a directory that can be written',
  })
}
