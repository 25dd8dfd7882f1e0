import { createHash, randomBytes } from 'node:crypto'
import { link, lstat, opendir, readlink, rename, rm, stat } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import { UsageError } from './errors.ts'

/** Maximum names of a directory to look at. */
const maxNames = 10_000

/** Returns a temporary path beside `path`; its name identifies the process and machine that write it. */
export async function partPath(path: string, pid = process.pid): Promise<string> {
  return `${path}.${await machineId()}_${pid}_${randomBytes(6).toString('hex')}.part`
}

/** Error codes of file systems without hard links. */
const noLinks: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
])

/**
 * Renames a temporary file to its path. Unless `mayReplace`, keeps a file that has been created there since:
 * removes the temporary file and throws a UsageError.
 */
export async function placePart(
  part: string,
  path: string,
  name: string,
  mayReplace: boolean,
): Promise<void> {
  if (mayReplace) return rename(part, path)
  try {
    // link fails atomically if the path exists.
    await link(part, path)
  } catch (error) {
    const code = systemCode(error)
    const isTaken = code === 'EEXIST' || (noLinks.has(code) && (await stat(path).catch(() => null)) !== null)
    if (!isTaken && noLinks.has(code)) return rename(part, path)
    await rm(part, { force: true })
    if (!isTaken) throw error
    throw new UsageError(`${name} already exists`, {
      why: ['It was created while this command was running'],
      hint: 'Use --force to overwrite it',
    })
  }
  await rm(part, { force: true })
}

/**
 * Removes the temporary files that killed processes left in the directory of `path`: regular files of this
 * user whose names identify an ended process of this machine. Ignores all errors.
 */
export async function removeDeadParts(path: string): Promise<void> {
  const [directory, here] = [dirname(path), await machineId()]
  try {
    let left = maxNames
    for await (const { name } of await opendir(directory, { bufferSize: 1024 })) {
      left -= 1
      if (left < 0) return
      const [, host, pid] =
        /\.([0-9a-f]{12})_(\d{1,10})_[0-9a-f]{12}\.part(?:-wal|-shm|-journal)?$/.exec(name) ?? []
      if (host !== here || isAlive(Number(pid))) continue
      const found = await lstat(join(directory, name))
      if (found.isFile() && [-1, found.uid].includes(userInfo().uid)) await rm(join(directory, name))
    }
  } catch {
    // The command itself reports problems with the directory.
  }
}

/** Identifies this machine, or this container, within which process ids are unique. */
export async function machineId(): Promise<string> {
  const processes = await readlink('/proc/self/ns/pid').catch(() => '')
  return createHash('sha256').update(`${hostname()} ${processes}`).digest('hex').slice(0, 12)
}
