import { closeSync, openSync, readFileSync, statSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { ConfigError, systemCode } from './errors.ts'
import { readRegularFile } from './read-file.ts'

const staleAfterMs = 30_000
const waitAtMostMs = 30_000

/** What a lock needs of the world. */
export interface LockClock {
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

interface Holder {
  readonly pid: number
  readonly host: string
  /** When it was taken, or renewed last, in milliseconds since 1970. */
  readonly time: number
  readonly id: string
  /** When it was taken; absent in locks of earlier versions. */
  readonly since?: number
}

/** A lock file that this process holds. */
export interface HeldLock {
  /** Keeps it for 30 s more; false where another process has taken it over. */
  readonly renew: () => boolean
  readonly release: () => void
}

/**
 * Runs `work` while this process alone holds the lock file at `path`. Throws as `takeLock` does. What `work` decides
 * on must be read inside it.
 */
export async function withLock<Result>(
  path: string,
  clock: LockClock,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const { release } = await takeLock(path, clock)
  try {
    return await work()
  } finally {
    release()
  }
}

/**
 * Takes the lock file at `path`, as `tryLock` does. Throws a ConfigError after 30 s of waiting, the fault of the system
 * where no file can be made, and the reason of a signal that is aborted.
 */
export async function takeLock(path: string, clock: LockClock, signal?: AbortSignal): Promise<HeldLock> {
  const deadline = clock.now() + waitAtMostMs
  for (;;) {
    const lock = tryLock(path, clock)
    if (lock) return lock
    signal?.throwIfAborted()
    if (clock.now() >= deadline) {
      throw new ConfigError('config_locked', `The lock ${path} has been held by another process for 30 s`, {
        hint: 'If no other learnctl is running, delete this file',
      })
    }
    await clock.sleep(10 + Math.random() * 40, signal).catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : error
    })
  }
}

/**
 * Takes the lock file at `path` (created exclusively, holding pid and time) if it is free; null while another process
 * holds it. A lock whose process has died, or that was not renewed for 30 s, is taken over.
 */
export function tryLock(path: string, clock: Pick<LockClock, 'now'>): HeldLock | null {
  const since = clock.now()
  const holder: Holder = { pid: process.pid, host: hostname(), time: since, since, id: crypto.randomUUID() }
  if (!tryCreate(path, holder)) {
    if (!isStale(path, since)) return null
    takeAway(path, since)
    if (!tryCreate(path, holder)) return null
  }
  const isOwn = () => read(path)?.id === holder.id
  return {
    renew: () => {
      if (!isOwn()) return false
      writeFileSync(path, JSON.stringify({ ...holder, time: clock.now() }))
      return true
    },
    release: () => {
      if (isOwn()) unlink(path)
    },
  }
}

/** Which process holds a lock, and since when, in milliseconds since 1970; null for a lock that is free. */
export function lockHolder(path: string): { pid: number; host: string; since: number } | null {
  const holder = read(path)
  return holder && { pid: holder.pid, host: holder.host, since: holder.since ?? holder.time }
}

function tryCreate(path: string, holder: Holder): boolean {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
  try {
    writeSync(file, JSON.stringify(holder))
    return true
  } catch (error) {
    // On a full disk: an empty lock would hold everybody up until it is stale.
    unlink(path)
    throw error
  } finally {
    closeSync(file)
  }
}

/**
 * Deletes a stale lock. Only one process at a time may do so, and it looks again first: a second one that saw the
 * same stale lock would otherwise delete the fresh lock of the first.
 */
function takeAway(path: string, now: number): void {
  const guard = `${path}.stale`
  if (!tryCreate(guard, { pid: process.pid, host: hostname(), time: now, id: crypto.randomUUID() })) {
    if (isStale(guard, now)) unlink(guard)
    return
  }
  try {
    if (isStale(path, now)) unlink(path)
  } finally {
    unlink(guard)
  }
}

function isStale(path: string, now: number): boolean {
  const holder = read(path)
  if (holder) return now - holder.time > staleAfterMs || (holder.host === hostname() && !isAlive(holder.pid))
  // Nothing in it yet: its process is between creating and writing, or died there.
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return written !== undefined && now - written > staleAfterMs
}

/** True while a process with this id is there; signal 0 only asks. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

/**
 * When a process started, as text that no other process with its number has, also after the machine has started anew;
 * null where the system does not tell (proc(5) is Linux's).
 */
export function startOf(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program comes before, and may hold anything.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return ticks === undefined ? null : `${boot} ${ticks}`
  } catch {
    return null
  }
}

function read(path: string): Holder | null {
  try {
    // The file holds what tryCreate wrote, or is cut short, which JSON.parse refuses.
    return JSON.parse(readRegularFile(path, 1024)) as Holder
  } catch {
    return null
  }
}

function unlink(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
