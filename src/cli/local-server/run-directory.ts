import { type Dir, lstatSync, opendirSync, rmSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import { CommandError } from '../terminal/errors.ts'
import { machine } from '../terminal/part-file.ts'

/** So many names of the temporary directory are looked at; what lies in a fuller one is left. */
const maximumNames = 10_000
const lead = 'learnctl-exec-'
const deadForm = /^learnctl-exec-([0-9a-f]{12})_(\d{1,10})_\w{6}$/

/** The directory of one run, 0700: it goes with the run, or is kept. */
export interface RunDirectory {
  readonly path: string
  /** Keeps it under another name, which no later run clears away; gives its path. */
  keep(): Promise<string>
  remove(): Promise<void>
}

/** Makes the directory of this run in the temporary directory; its name says which process of which machine uses it. */
export async function makeRunDirectory(): Promise<RunDirectory> {
  const path = await makeIn(tmpdir(), `${lead}${await machine()}_${process.pid}_`)
  return {
    path,
    async keep() {
      // An empty directory may be replaced by another one (POSIX, rename).
      const kept = await makeIn(tmpdir(), 'learnctl-kept-')
      await rename(path, kept)
      return kept
    },
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  }
}

async function makeIn(directory: string, prefix: string): Promise<string> {
  try {
    return await mkdtemp(join(directory, prefix))
  } catch (error) {
    const code = systemCode(error)
    const why = code === 'ENOENT' ? 'it does not exist' : (code ?? String(error))
    throw new CommandError(
      'unwritable',
      'failure',
      `Cannot use the temporary directory ${directory}: ${why}`,
      {
        cause: error,
        hint: 'Set TMPDIR to a directory that you can write to',
      },
    )
  }
}

/**
 * Removes what runs left behind that were killed: directories of this user, whose names say that a process of this
 * machine made them, and that is gone. Whatever hinders this is left as it is.
 */
export async function removeDeadRuns(): Promise<void> {
  const here = await machine()
  let directory: Dir | undefined
  try {
    // One name at a time, but without a promise for each: a temporary directory may hold thousands.
    directory = opendirSync(tmpdir(), { bufferSize: 1024 })
    for (let left = maximumNames; left > 0; left -= 1) {
      const name = directory.readSync()?.name
      if (name === undefined) return
      const [, host, pid] = deadForm.exec(name) ?? []
      if (host !== here || isAlive(Number(pid))) continue
      const path = join(tmpdir(), name)
      const found = lstatSync(path)
      if (!found.isDirectory() || ![-1, found.uid].includes(userInfo().uid)) continue
      rmSync(path, { recursive: true, force: true })
    }
  } catch {
    // A directory that cannot be read is nobody's fault here.
  } finally {
    directory?.closeSync()
  }
}
