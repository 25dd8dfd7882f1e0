import { closeSync, openSync, statSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { ConfigError, systemCode } from './errors.ts'
import { readRegularFile } from './files.ts'

const staleAfterMs = 30_000
const maxWaitMs = 30_000

export interface LockClock {
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

interface Holder {
  readonly pid: number
  readonly host: string
  /** When the lock was taken or last renewed, in milliseconds since 1970. */
  readonly time: number
  readonly id: string
}

interface HeldLock {
  /** Extends the lock by 30 s; false if another process has taken it over. */
  readonly renew: () => boolean
  readonly release: () => void
}

/** `work` must read inside the lock what it depends on. Throws as `takeLock` does. */
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

/** Throws a ConfigError after 30 s, the system's error if the file cannot be created, and the reason of an aborted signal. */
export async function takeLock(path: string, clock: LockClock, signal?: AbortSignal): Promise<HeldLock> {
  const deadline = clock.now() + maxWaitMs
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

/** Null if another process holds it. Takes over a lock whose process has died or has not renewed it for 30 s. */
export function tryLock(path: string, clock: Pick<LockClock, 'now'>): HeldLock | null {
  const now = clock.now()
  const holder: Holder = { pid: process.pid, host: hostname(), time: now, id: crypto.randomUUID() }
  if (!tryCreate(path, holder)) {
    if (!isStale(path, now)) return null
    deleteStaleLock(path, now)
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

/** Null if the lock is free. */
export function lockHolder(path: string): number | null {
  return read(path)?.pid ?? null
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
    // The disk is full: an empty lock would block other processes until it is stale.
    unlink(path)
    throw error
  } finally {
    closeSync(file)
  }
}

/**
 * Deletes a stale lock. Only one process at a time may do this, and it checks again first: else a second
 * process that saw the same stale lock would delete the new lock of the first.
 */
function deleteStaleLock(path: string, now: number): void {
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
  // An empty file: its process is between creating and writing it, or died there.
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return written !== undefined && now - written > staleAfterMs
}

/** Signal 0 only checks. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

function read(path: string): Holder | null {
  try {
    // The file was written by tryCreate, or is truncated and fails to parse.
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
