import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject } from '../codec/json-object.ts'
import { parseJson } from '../codec/json-text.ts'
import { shellWord } from '../codec/shell-word.ts'
import { ConfigError } from './errors.ts'
import { type LockClock, takeLock, withLock } from './lock.ts'
import { makeDirectory, unwritable } from './make-directory.ts'
import { type Profile, type Profiles, profileName } from './profiles.ts'
import { readRegularFile, UnreadableFileError } from './read-file.ts'

/** Where profiles are kept. Reading is plain and quick; changing is atomic and safe between processes. */
export interface ProfileStore {
  readonly path: string
  /** Throws a ConfigError when the file is corrupt or unreadable; no file means no profiles. */
  read(): Profiles
  /** Applies `change` to what is stored at that moment, under a lock, and gives back the result. */
  change(change: (profiles: Profiles) => Profiles): Promise<Profiles>
  /**
   * Runs `work` while no other process may refresh or end the credential of this profile, and once it is sure that
   * files can be written beside it. Throws a ConfigError where they cannot, or where the wait is over 30 s long, and
   * the reason of a signal that ends the wait.
   */
  exclusively<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

/** 4 MiB: thousands of profiles. */
const maximumBytes = 4 * 1024 * 1024

/** What moves the directory of profiles elsewhere. */
const directoryVariable = 'LEARNCTL_CONFIG_DIR'

/**
 * The profiles in `profiles.json` of `directory`: the directory 0700, the file 0600 after every write. A file that
 * others could read is closed when it is read, and `onOpen` is told the mode it had and whether it is closed now.
 */
export function createProfileStore(
  directory: string,
  clock: LockClock,
  onOpen: (mode: number, closed: boolean) => void = () => {},
): ProfileStore {
  const path = join(directory, 'profiles.json')
  const read = () => {
    const profiles = readProfiles(path)
    closeToOthers(path, onOpen)
    return profiles
  }

  async function exclusively<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal) {
    makePrivate(directory)
    // What comes out of the work has to be stored at once: nothing is left to load by then.
    await loadWriter()
    const { release } = await takeLock(join(directory, `${name}.credential.lock`), clock, signal).catch(
      (error: unknown) => {
        throw unwritable(path, error, directoryVariable)
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
      makePrivate(directory)
      try {
        return await withLock(`${path}.lock`, clock, async () => {
          const changed = change(readProfiles(path))
          await writeProfiles(directory, changed)
          return changed
        })
      } catch (error) {
        throw unwritable(path, error, directoryVariable)
      }
    },
    exclusively,
  }
}

/** Somebody else may have put the file there, or have changed its mode by hand. */
function closeToOthers(path: string, onOpen: (mode: number, closed: boolean) => void): void {
  const found = statSync(path, { throwIfNoEntry: false })
  // Windows knows no such modes.
  if (!found || process.platform === 'win32' || (found.mode & 0o077) === 0) return
  let closed = true
  try {
    chmodSync(path, 0o600)
  } catch {
    closed = false // It belongs to somebody else; whoever reads the note can see to it.
  }
  onOpen(found.mode & 0o777, closed)
}

async function loadWriter() {
  // conf brings a schema validator along that costs 40 ms: a price for writing only.
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

/** What conf was about to rename when a process was killed: it holds credentials, and nobody else is writing now. */
function removeLeftovers(directory: string): void {
  const left = readdirSync(directory).filter((name) => name.startsWith('profiles.json.tmp-'))
  for (const name of left) rmSync(join(directory, name), { force: true })
}

function readProfiles(path: string): Profiles {
  let text: string
  try {
    text = readRegularFile(path, maximumBytes)
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    // ENOTDIR: the directory itself is missing or is a file, which only a write has to mind.
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
    // The parser's own words would quote what stands there, which may be a credential.
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
    // Each entry has been looked at above.
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
    is('number', 'skewMs') &&
    texts.every((name) => value[name] === null || is('string', name)) &&
    (lifetimeSeconds === null || typeof lifetimeSeconds === 'number') &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === 'string')
  )
}

function makePrivate(directory: string): void {
  try {
    makeDirectory(directory, directoryVariable)
    const mode = statSync(directory).mode
    // A sticky directory is one that everybody shares, such as /tmp: not ours to close.
    if ((mode & 0o077) !== 0 && (mode & 0o1000) === 0) chmodSync(directory, 0o700)
  } catch (error) {
    throw unwritable(directory, error, directoryVariable)
  }
}
