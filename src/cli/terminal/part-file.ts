import { createHash, randomBytes } from 'node:crypto'
import { lstat, opendir, readlink, rm } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isAlive } from '../../config/lock.ts'

/** So many names of a directory are looked at; what lies in a fuller one is left. */
const maximumNames = 10_000

/** A path beside `path` for what is not whole yet: its name says which process of which machine writes it. */
export async function partPath(path: string, pid = process.pid): Promise<string> {
  return `${path}.${await machine()}_${pid}_${randomBytes(6).toString('hex')}.part`
}

/**
 * Removes what exports to this path left behind that were killed: regular files of this user, whose names say that a
 * process of this machine made them, and that is gone. Whatever hinders this is left as it is.
 */
export async function removeDeadParts(path: string): Promise<void> {
  const [directory, lead, here] = [dirname(path), `${basename(path)}.`, await machine()]
  try {
    let left = maximumNames
    for await (const { name } of await opendir(directory, { bufferSize: 1024 })) {
      left -= 1
      if (left < 0) return
      const [, host, pid] =
        /^([0-9a-f]{12})_(\d{1,10})_[0-9a-f]{12}\.part(?:-wal|-shm|-journal)?$/.exec(
          name.slice(lead.length),
        ) ?? []
      if (!name.startsWith(lead) || host !== here || isAlive(Number(pid))) continue
      const found = await lstat(join(directory, name))
      if (found.isFile() && [-1, found.uid].includes(userInfo().uid)) await rm(join(directory, name))
    }
  } catch {
    // The export itself says what is wrong with the directory.
  }
}

/** This machine, or this container of it: process ids mean nothing anywhere else. */
export async function machine(): Promise<string> {
  const processes = await readlink('/proc/self/ns/pid').catch(() => '')
  return createHash('sha256').update(`${hostname()} ${processes}`).digest('hex').slice(0, 12)
}
