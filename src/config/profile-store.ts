import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../codec/display-text.ts'
import { isJsonObject, parseJson } from '../codec/json-text.ts'
import { ConfigError } from './errors.ts'
import { makeDirectory, readRegularFile, UnreadableFileError, unwritableError } from './files.ts'
import { type LockClock, takeLock, withLock } from './lock.ts'
import { type Profile, type Profiles, profileName } from './profiles.ts'

/** Reading is cheap; a change is atomic and safe between processes. */
export interface ProfileStore {
  readonly path: string
  /** Throws a ConfigError if the file is damaged or unreadable; a missing file means no profiles. */
  read(): Profiles
  /** Applies `change` to the stored profiles under a lock and returns the result. */
  change(change: (profiles: Profiles) => Profiles): Promise<Profiles>
  /**
   * Runs `work` while no other process can refresh or revoke the credential of this profile, and after
   * checking that files can be written. Throws a ConfigError if they cannot or after 30 s of waiting, and the
   * signal's reason.
   */
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

/**
 * Deletes temporary files that conf left when a process was killed: they contain credentials. The lock
 * excludes other writers.
 */
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
