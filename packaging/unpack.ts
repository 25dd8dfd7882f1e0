import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { systemCode } from '../src/config/errors.ts'
import { makeDirectory } from '../src/config/files.ts'

/** List of the files that an executable contains. */
export interface Contents {
  /** Name of the folder to unpack to: a hash of all files. */
  readonly id: string
  /** Path with `/`, and size in bytes, in the order of the archive. */
  readonly files: readonly (readonly [path: string, size: number])[]
}

/** Files whose contents stand one after the other in a compressed archive. */
export interface Packed extends Contents {
  /** Brotli (RFC 7932). */
  readonly archive: () => Uint8Array
}

/** No directory can take the files. The message has the reason for each. */
export class CannotUnpackError extends Error {
  override readonly name = 'CannotUnpackError'
}

/** User of this process. Windows has none: the folder of a user is their own. */
const user = process.geteuid?.()
/** Time of last change of every unpacked file. A file with another time was changed since. */
const unpackedAt = new Date('2000-01-01T00:00:00Z')
const unfinishedPrefix = 'unfinished-'
/** Age of an unfinished folder whose process must have ended. */
const maxUnfinishedMs = 60 * 60 * 1000
/** Other processes may unpack at the same time; each attempt ends with their files or with ours. */
const maxAttempts = 5

/**
 * Returns a folder with the files, in the first of the directories that can hold it, and unpacks them unless they are
 * there already. A folder is complete under its name: it is written under another one and renamed. Files of another
 * user, and files that were changed since, are not used. Throws CannotUnpackError.
 */
export function unpack(packed: Packed, directories: readonly string[]): string {
  const reasons: string[] = []
  for (const directory of directories) {
    const folder = join(directory, packed.id)
    try {
      if (isOwn(directory) && isComplete(folder, packed.files)) return folder
      makeDirectory(directory, null)
      if (!isOwn(directory)) throw new Error('it belongs to another user, or others can write to it')
      write(packed, directory)
      return folder
    } catch (error) {
      const { message, cause } = error instanceof Error ? error : new Error(String(error))
      reasons.push(`${directory}: ${systemCode(cause ?? error) ?? message}`)
    }
  }
  throw new CannotUnpackError(reasons.join('; '))
}

/** True for a directory, not a link to one, that only this user can write to. */
function isOwn(path: string): boolean {
  const found = statOf(path)
  return found?.isDirectory() === true && isPrivate(found)
}

function isPrivate({ uid, mode }: Stats): boolean {
  return user === undefined || (uid === user && (mode & 0o022) === 0)
}

function isComplete(folder: string, files: Contents['files']): boolean {
  return isOwn(folder) && files.every(([path, size]) => isUnchanged(`${folder}/${path}`, size))
}

function isUnchanged(path: string, size: number): boolean {
  const found = statOf(path)
  return (
    found?.isFile() === true &&
    found.size === size &&
    found.mtimeMs === unpackedAt.getTime() &&
    isPrivate(found)
  )
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // Below a file, or in a directory that cannot be searched.
  }
}

function write({ id, ...packed }: Packed, directory: string): void {
  removeUnfinished(directory)
  const folder = join(directory, id)
  // Readable by its owner only, whatever the umask is.
  const unfinished = mkdtempSync(join(directory, unfinishedPrefix))
  try {
    const written = join(unfinished, id)
    writeFiles(packed, written)
    for (let attempt = 1; !moved(written, folder); attempt += 1) {
      if (isComplete(folder, packed.files)) return
      if (attempt === maxAttempts) throw new Error('other files are in the way')
      // Away in one step: another process finds all of it, or nothing.
      moved(folder, join(unfinished, `earlier-${attempt}`))
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

function writeFiles({ files, archive }: Omit<Packed, 'id'>, folder: string): void {
  const total = files.reduce((sum, [, size]) => sum + size, 0)
  // Loaded here: most starts find their files.
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib')
  const bytes = brotliDecompressSync(archive(), { maxOutputLength: total })
  let offset = 0
  for (const [path, size] of files) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, bytes.subarray(offset, offset + size), { mode: 0o600, flag: 'wx' })
    utimesSync(file, unpackedAt, unpackedAt)
    offset += size
  }
}

/** Renames a folder; false if the name is taken, or if another process moved the folder. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    // Windows refuses with EPERM what others refuse with ENOTEMPTY.
    if (/^(ENOTEMPTY|EEXIST|ENOTDIR|EPERM)$/.test(systemCode(error) ?? '') && statOf(to)) return false
    if (systemCode(error) === 'ENOENT' && !statOf(from)) return false
    throw error
  }
}

/** Removes the folders of processes that were killed while they unpacked. */
function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const found = name.startsWith(unfinishedPrefix) ? statOf(path) : undefined
    if (found && Date.now() - found.mtimeMs > maxUnfinishedMs) rmSync(path, { recursive: true, force: true })
  }
}
