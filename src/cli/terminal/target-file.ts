import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { link, lstat, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import { CommandError, UsageError } from './errors.ts'

const bufferBytes = 1024 * 1024

/** The file is created completely or not at all. */
export interface TargetFile {
  write(bytes: Uint8Array): Promise<void>
  finish(): Promise<void>
  discard(): Promise<void>
}

interface TargetOptions {
  readonly force?: boolean
  /** Default: those of the replaced file, else 0600. */
  readonly mode?: number
}

/** `finish` moves it to its path. Throws a UsageError without `force` if the file exists; writing throws a CommandError. */
export async function openTarget(
  cwd: string,
  name: string,
  options: TargetOptions = {},
): Promise<TargetFile> {
  const named = resolve(cwd, name)
  const found = await stat(named).catch(() => null)
  // A device or a pipe is written to directly.
  const direct = found !== null && !found.isFile()
  if (found?.isDirectory()) throw new UsageError(`${name} is a directory`)
  if (found && !direct && !options.force) {
    throw new UsageError(`${name} already exists`, { hint: 'Use --force to overwrite it' })
  }
  // realpath fails if /dev/stdout is a pipe.
  const path = found && !direct ? await realpath(named) : named
  const mode = options.mode ?? (found ? found.mode & 0o777 : 0o600)
  if (!direct) await removeDeadParts(path)
  const temporary = direct ? path : await partPath(path)
  const file = await attempt(name, () => open(temporary, direct ? 'w' : 'wx', mode))
  // Buffered, so that data is received while this is written.
  const stream = file.createWriteStream({ highWaterMark: bufferBytes, flush: !direct })
  let fault: Error | null = null
  stream.on('error', (error) => {
    fault = error
  })
  return {
    write: (bytes) =>
      attempt(name, async () => {
        if (fault) throw fault
        if (!stream.write(bytes)) await once(stream, 'drain')
      }),
    finish: () =>
      attempt(name, async () => {
        if (fault) throw fault
        stream.end()
        await finished(stream)
        if (!direct) await placePart(temporary, path, name, options.force === true)
      }),
    discard: async () => {
      stream.destroy()
      if (!stream.closed) await once(stream, 'close').catch(() => {})
      if (!direct) await rm(temporary, { force: true })
    },
  }
}

/** Throws as `openTarget` does. */
export async function writeTarget(
  cwd: string,
  name: string,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  options: TargetOptions = {},
): Promise<void> {
  const target = await openTarget(cwd, name, options)
  try {
    for await (const piece of pieces) await target.write(Buffer.from(piece))
    await target.finish()
  } catch (error) {
    await target.discard()
    throw error
  }
}

async function attempt<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const code = systemCode(error)
    if (code === 'ENOENT') throw new UsageError(`Directory ${dirname(name)} not found`, { cause: error })
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new CommandError('disk_full', 'failure', `Cannot write ${name}: the disk is full`, {
        cause: error,
        why: ['No partial file was kept'],
      })
    }
    throw new CommandError('unwritable', 'failure', `Cannot write ${name}: ${code ?? error}`, {
      cause: error,
    })
  }
}

/** Returns a temporary path beside `path`; its name identifies the process and machine that write it. */
export async function partPath(path: string, pid = process.pid): Promise<string> {
  return `${path}.${await machineId()}_${pid}_${randomBytes(6).toString('hex')}.part`
}

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
    for (const name of await readdir(directory)) {
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

/** Identifies this machine or container, within which process ids are unique. */
export async function machineId(): Promise<string> {
  const processes = await readlink('/proc/self/ns/pid').catch(() => '')
  return createHash('sha256').update(`${hostname()} ${processes}`).digest('hex').slice(0, 12)
}
