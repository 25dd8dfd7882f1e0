import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { systemCode } from '../config/errors.ts'
import { CommandError, UsageError } from './errors.ts'

/** A file that is there whole or not at all. */
export interface TargetFile {
  write(bytes: Uint8Array): Promise<void>
  /** Puts the file in its place. */
  finish(): Promise<void>
  /** Leaves nothing behind. */
  discard(): Promise<void>
}

/**
 * Opens a file to be written beside its place and moved there at the end. Throws a UsageError when it exists and
 * `force` is not given, or cannot be made; writing throws a CommandError when the disk is full.
 */
export async function openTarget(cwd: string, name: string, force: boolean): Promise<TargetFile> {
  const path = resolve(cwd, name)
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) throw new UsageError(`${name} is a directory`)
  if (found && !force) throw new UsageError(`${name} exists`, { hint: 'replace it with --force' })
  // A device or a pipe cannot be replaced by a file; it is written as it is.
  const direct = found !== null && !found.isFile()
  const temporary = direct ? path : `${path}.${randomBytes(6).toString('hex')}.part`
  const file = await attempt(name, () => open(temporary, direct ? 'w' : 'wx'))
  return {
    write: async (bytes) => {
      await attempt(name, () => writeAll(file, bytes))
    },
    finish: async () => {
      await attempt(name, async () => {
        if (!direct) await file.sync()
        await file.close()
        if (!direct) await rename(temporary, path)
      })
    },
    discard: async () => {
      await file.close().catch(() => {})
      if (!direct) await rm(temporary, { force: true })
    },
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}

async function attempt<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') throw new UsageError(`there is no directory ${dirname(name)}`, { cause: error })
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new CommandError('disk_full', 'failure', `cannot write ${name}: the disk is full`, {
        cause: error,
        why: ['nothing of it was kept'],
      })
    }
    throw new CommandError('unwritable', 'failure', `cannot write ${name}: ${code ?? error}`, {
      cause: error,
    })
  }
}
