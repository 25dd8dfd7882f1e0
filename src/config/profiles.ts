import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../codec/display-text.ts'
import { isJsonObject, parseJson } from '../codec/json-text.ts'
import { ConfigError } from './errors.ts'
import { makeDirectory, readRegularFile, UnreadableFileError, unwritableError } from './files.ts'
import { type LockClock, takeLock, withLock } from './lock.ts'

interface Stored {
  /** Scheme, host and port (RFC 6454), such as `https://academy.example.org`. */
  readonly origin: string
  /** ISO 8601, UTC. */
  readonly storedAt: string
}

interface StoredKey extends Stored {
  readonly kind: 'api_key'
  readonly value: string
}

/** RFC 6749 §5.1, RFC 7009. */
export interface StoredTokens extends Stored {
  readonly kind: 'oauth'
  readonly accessToken: string
  readonly refreshToken: string | null
  /** ISO 8601 in UTC; null if the server did not say. */
  readonly expiresAt: string | null
  /** Lifetime of an access token; null if the server did not say. */
  readonly lifetimeSeconds: number | null
  /** Granted scopes, which may be fewer than requested. */
  readonly scopes: readonly string[]
  readonly issuer: string
  readonly clientId: string
  /** Set for a confidential client (RFC 6749 §2.1). */
  readonly clientSecret?: string
  /** Where the client secret is sent (RFC 6749 §2.3.1); default header. */
  readonly secretPlace?: 'header' | 'form'
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string | null
}

/** A stored credential, bound to the one origin that it may be sent to. */
export type StoredCredential = StoredKey | StoredTokens

/** The platform file as it was when it was added. */
export interface StoredPlatform {
  readonly name: string
  /** SHA-256 of its text, in hexadecimal digits. */
  readonly digest: string
  /** Its value, which was validated. */
  readonly file: unknown
}

export interface RemoteProfile {
  readonly url: string
  readonly credential?: StoredCredential
  readonly platform?: StoredPlatform
}

interface LocalProfile {
  readonly database: string
}

export type Profile = RemoteProfile | LocalProfile

export interface Profiles {
  readonly active: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

export const profileName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** `quickstart` creates it and `server start` serves it by default. */
export const localProfile = 'local'

export function isLocal(profile: Profile): profile is LocalProfile {
  return 'database' in profile
}

export function profileOf({ profiles }: Pick<Profiles, 'profiles'>, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined
}

export function credentialOf(stored: Profiles, name: string): StoredCredential | undefined {
  const profile = profileOf(stored, name)
  return profile && !isLocal(profile) ? profile.credential : undefined
}

/** Returns the profiles with another credential in one of them, or none. A missing profile is not created. */
export function withCredential(
  { active, profiles }: Profiles,
  name: string,
  credential: StoredCredential | undefined,
): Profiles {
  const profile = profileOf({ profiles }, name)
  if (!profile || isLocal(profile)) return { active, profiles }
  const { credential: _, ...others } = profile
  const changed: RemoteProfile = { ...others, ...(credential && { credential }) }
  return { active, profiles: { ...profiles, [name]: changed } }
}

export function bearerOf(stored: StoredCredential): { kind: 'api_key' | 'access_token'; value: string } {
  return stored.kind === 'oauth'
    ? { kind: 'access_token', value: stored.accessToken }
    : { kind: 'api_key', value: stored.value }
}

/** Reading is cheap; a change is atomic and safe between processes. */
export interface ProfileStore {
  readonly path: string
  /** Throws a ConfigError if the file is damaged or unreadable; a missing file means no profiles. */
  read(): Profiles
  change(change: (profiles: Profiles) => Profiles): Promise<Profiles>
  /** Keeps others from refreshing or revoking it. Throws a ConfigError for unwritable files or after 30 s. */
  withCredentialLock<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

/** 4 MiB hold thousands of profiles. */
const maxBytes = 4 * 1024 * 1024

/** Variable that moves the directory. */
const directoryVariable = 'LEARNCTL_CONFIG_DIR'

/**
 * Creates the store of `profiles.json` in `directory`; a write sets the modes to 0600 and 0700. If others can
 * read the file, reading it restricts it to its owner, and `onOpen` is called with its old mode and whether
 * that succeeded.
 */
export function createProfileStore(
  directory: string,
  clock: LockClock,
  onOpen: (mode: number, closed: boolean) => void = () => {},
): ProfileStore {
  const path = join(directory, 'profiles.json')
  const read = () => {
    const profiles = readProfiles(path)
    restrictToOwner(path, onOpen)
    return profiles
  }

  async function withCredentialLock<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal) {
    makePrivateDirectory(directory)
    // Load the writer first: the result of the work must be stored at once.
    await loadWriter()
    const { release } = await takeLock(join(directory, `${name}.credential.lock`), clock, signal).catch(
      (error: unknown) => {
        throw unwritableError(path, error, directoryVariable)
      },
    )
    try {
      return await work()
    } finally {
      release()
    }
  }

  return {
    path,
    read,
    change: async (change) => {
      makePrivateDirectory(directory)
      try {
        return await withLock(`${path}.lock`, clock, async () => {
          const changed = change(readProfiles(path))
          await writeProfiles(directory, changed)
          return changed
        })
      } catch (error) {
        throw unwritableError(path, error, directoryVariable)
      }
    },
    withCredentialLock,
  }
}

/** Restricts the file to its owner, in case another program created it or changed its mode. */
function restrictToOwner(path: string, onOpen: (mode: number, closed: boolean) => void): void {
  const found = statSync(path, { throwIfNoEntry: false })
  // Windows has no such modes.
  if (!found || process.platform === 'win32' || (found.mode & 0o077) === 0) return
  let closed = true
  try {
    chmodSync(path, 0o600)
  } catch {
    closed = false // The file belongs to another user; onOpen reports it.
  }
  onOpen(found.mode & 0o777, closed)
}

async function loadWriter() {
  // conf loads a schema validator, which takes 40 ms: only writing pays for it.
  return (await import('conf')).default
}

async function writeProfiles(directory: string, profiles: Profiles): Promise<void> {
  const Conf = await loadWriter()
  removeLeftovers(directory)
  const conf = new Conf({
    cwd: directory,
    configName: 'profiles',
    projectSuffix: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  })
  conf.store = { version: 1, ...profiles }
}

/** A killed process leaves files of conf, with credentials. The lock excludes other writers. */
function removeLeftovers(directory: string): void {
  const left = readdirSync(directory).filter((name) => name.startsWith('profiles.json.tmp-'))
  for (const name of left) rmSync(join(directory, name), { force: true })
}

function readProfiles(path: string): Profiles {
  let text: string
  try {
    text = readRegularFile(path, maxBytes)
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    // ENOTDIR: the directory is missing or is a file, which matters only to a write.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { active: null, profiles: {} }
    throw new ConfigError('config_unreadable', `Cannot read ${path}: ${error.message}`, { cause: error })
  }
  return parse(text, path)
}

function parse(text: string, path: string): Profiles {
  const corrupt = (what: string, cause?: unknown) =>
    new ConfigError('config_invalid', `${path} is damaged: ${what}`, {
      cause,
      hint: `Repair the file, or move it away and start over: mv ${shellWord(path)} ${shellWord(`${path}.damaged`)}`,
    })
  let stored: unknown
  try {
    stored = parseJson(text)
  } catch {
    // No cause: the parser's message quotes the text, which may be a credential.
    throw corrupt(text.trim() === '' ? 'it is empty' : 'it is not JSON')
  }
  if (!isJsonObject(stored) || !isJsonObject(stored['profiles'])) throw corrupt('"profiles" is missing')
  if (stored['version'] !== 1) throw corrupt(`version is ${JSON.stringify(stored['version'])}, not 1`)
  for (const [name, value] of Object.entries(stored['profiles'])) {
    const profile = `profile ${JSON.stringify(name)}`
    if (!isProfile(name, value)) throw corrupt(`${profile} has neither a URL nor a database`)
    if (!isCredential(value['credential'])) throw corrupt(`${profile} has an incomplete credential`)
  }
  const active = stored['active']
  return {
    active: typeof active === 'string' ? active : null,
    // The loop above has validated each entry.
    profiles: stored['profiles'] as Readonly<Record<string, Profile>>,
  }
}

function isProfile(name: string, value: unknown): value is Record<string, unknown> {
  if (!profileName.test(name) || !isJsonObject(value)) return false
  if (typeof value['database'] === 'string') return true
  return typeof value['url'] === 'string' && URL.canParse(value['url'])
}

function isCredential(value: unknown): boolean {
  if (value === undefined) return true
  if (!isJsonObject(value) || typeof value['origin'] !== 'string') return false
  return value['kind'] === 'oauth' ? areTokens(value) : typeof value['value'] === 'string'
}

function areTokens(value: Record<string, unknown>): boolean {
  const is = (type: string, ...names: readonly string[]) => names.every((name) => typeof value[name] === type)
  const texts = ['refreshToken', 'expiresAt', 'revocationEndpoint']
  const { scopes, lifetimeSeconds } = value
  return (
    is('string', 'accessToken', 'issuer', 'clientId', 'tokenEndpoint') &&
    texts.every((name) => value[name] === null || is('string', name)) &&
    (lifetimeSeconds === null || typeof lifetimeSeconds === 'number') &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === 'string')
  )
}

function makePrivateDirectory(directory: string): void {
  try {
    makeDirectory(directory, directoryVariable)
    const mode = statSync(directory).mode
    // A sticky directory is shared by all users, such as /tmp.
    if ((mode & 0o077) !== 0 && (mode & 0o1000) === 0) chmodSync(directory, 0o700)
  } catch (error) {
    throw unwritableError(directory, error, directoryVariable)
  }
}

const maxThresholdMs = 60_000
const maxLifetimeSeconds = 10 * 365 * 86_400

/** RFC 6749 §5.1, validated by oauth4webapi. */
export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token?: string | undefined
  readonly expires_in?: number | undefined
  readonly scope?: string | undefined
}

export type GrantedTokens = Pick<
  StoredTokens,
  'accessToken' | 'refreshToken' | 'expiresAt' | 'lifetimeSeconds' | 'scopes' | 'storedAt'
>

/**
 * Returns the granted tokens. Their lifetime starts when the request was sent. Fields that the response omits are those
 * of `before` (RFC 6749 §5.1 "scope", §6 "refresh_token").
 */
export function grantedTokensOf(
  response: TokenResponse,
  sentMs: number,
  before: Pick<StoredTokens, 'refreshToken' | 'scopes'>,
): GrantedTokens {
  const { expires_in: given } = response
  const lifetimeSeconds = given === undefined ? null : Math.min(given, maxLifetimeSeconds)
  const scopes = response.scope?.split(' ').filter((scope) => scope !== '') ?? []
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? before.refreshToken,
    expiresAt: lifetimeSeconds === null ? null : new Date(sentMs + lifetimeSeconds * 1000).toISOString(),
    lifetimeSeconds,
    scopes: scopes.length > 0 ? scopes : before.scopes,
    storedAt: new Date(sentMs).toISOString(),
  }
}

/** Returns the remaining lifetime of an access token in milliseconds; Infinity if the server did not say. */
export function remainingMs({ expiresAt }: StoredTokens, nowMs: number): number {
  const endMs = Date.parse(expiresAt ?? '')
  return Number.isNaN(endMs) ? Number.POSITIVE_INFINITY : endMs - nowMs
}

/** True until one minute, or a tenth of its lifetime, before the access token expires. */
export function isFresh(tokens: StoredTokens, nowMs: number): boolean {
  const { lifetimeSeconds } = tokens
  const tenthMs = lifetimeSeconds === null ? maxThresholdMs : lifetimeSeconds * 100
  return remainingMs(tokens, nowMs) >= Math.min(maxThresholdMs, tenthMs)
}
