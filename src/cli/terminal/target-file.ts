import { once } from 'node:events'
import { open, realpath, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { systemCode } from '../../config/errors.ts'
import { CommandError, UsageError } from './errors.ts'
import { partPath, placePart, removeDeadParts } from './part-file.ts'

const bufferBytes = 1024 * 1024

/** A file that is created completely or not at all. */
export interface TargetFile {
  write(bytes: Uint8Array): Promise<void>
  /** Moves the file to its path. */
  finish(): Promise<void>
  /** Removes what has been written. */
  discard(): Promise<void>
}

/** Options for creating a file. */
export interface TargetOptions {
  /** Replace an existing file. */
  readonly force?: boolean
  /** Permissions; default those of the replaced file, else 0600. */
  readonly mode?: number
}

/**
 * Opens a temporary file that `finish` moves to its path. Throws a UsageError if the file exists without
 * `force`, or cannot be created; writing throws a CommandError if the disk is full.
 */
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
