import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { isAlive } from '../../config/lock.ts'
import { platformName } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError } from '../terminal/errors.ts'
import { note } from '../terminal/io.ts'

type Session = Context['session']

/** Time after which the server drops a lease that is not renewed. */
const leaseMs = 60_000
const renewEveryMs = 10_000
/** Time to wait while another apply to the same academy runs. */
const waitMs = 30_000
const lookEveryMs = 1000
const releaseWithinMs = 5000

/** Lock on one academy. */
interface Lock {
  /** Returns false if the lock was lost and another process may apply now. Throws if that is unknown. */
  readonly renew: () => Promise<boolean>
  readonly release: () => Promise<void>
}

/** Another process that holds the lock. */
interface Busy {
  readonly holder: string
  readonly heldMs: number
  /** How to release the lock if its process is gone. */
  readonly hint: string
}

/**
 * Runs `work` while holding the apply lock of the academy of `session`, which is renewed meanwhile and released at
 * the end. The signal in the context of `work` aborts if the lock is lost. Throws a CommandError that names the
 * holder (exit 6).
 */
export async function whileApplying<Result>(
  context: Context,
  session: Session,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const lock = await waitForLock(context, session)
  const lost = new AbortController()
  let renewal = Promise.resolve()
  let isRenewing = false
  let renewedAt = process.uptime()

  async function renew(): Promise<void> {
    const startedAt = process.uptime()
    try {
      if (await lock.renew()) renewedAt = startedAt
      else lost.abort(lockLost(session))
    } catch {
      // A failed renewal may be retried until the lease expires.
      if ((process.uptime() - renewedAt) * 1000 >= leaseMs) lost.abort(lockLost(session))
    }
    isRenewing = false
  }
  const timer = setInterval(() => {
    if (isRenewing) return
    isRenewing = true
    renewal = renew()
  }, renewEveryMs)
  timer.unref()
  try {
    const signal = AbortSignal.any([context.io.signal, lost.signal])
    return await work({ ...context, io: { ...context.io, signal } })
  } catch (error) {
    throw lost.signal.aborted && !context.io.signal.aborted ? lost.signal.reason : error
  } finally {
    clearInterval(timer)
    await renewal
    // A lease that could not be released expires.
    await lock.release().catch(() => {})
  }
}

async function waitForLock(context: Context, session: Session): Promise<Lock> {
  const { io } = context
  const take = await takerFor(context, session)
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const taken = await take()
    if ('release' in taken) return taken
    if (waitedMs >= waitMs) throw inProgress(session, taken)
    if (waitedMs === 0) await note(io, `Waiting for another apply to end: ${taken.holder}`)
    await io.sleep(lookEveryMs, io.signal)
    io.signal.throwIfAborted()
  }
}

/** Returns the function that takes the lock from the platform. */
async function takerFor(context: Context, session: Session): Promise<() => Promise<Lock | Busy>> {
  const caller = await session.caller()
  const isLocal = session.target().kind === 'local'
  const id = randomUUID()
  const body = { id, holder: `${hostname()}, process ${process.pid}` }
  let takenAt: unknown

  async function put(signal?: AbortSignal): Promise<JsonObject> {
    const { data } = await caller.call<Operation>(calls.leases.take, { body, signal })
    return isJsonObject(data) ? data : {}
  }

  const lease: Lock = {
    async renew() {
      try {
        return (await put())['takenAt'] === takenAt
      } catch (error) {
        if (error instanceof ApiError && error.code === 'apply_in_progress') return false
        throw error
      }
    },
    release: () => release(caller, id, AbortSignal.timeout(releaseWithinMs)),
  }

  await requireLearnctl(session, caller, 'this command', context.io.signal)
  return async function take(): Promise<Lock | Busy> {
    try {
      takenAt = (await put(context.io.signal))['takenAt']
      return lease
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'apply_in_progress') throw error
      const { lease: held, time } = error.problem ?? {}
      const current = isJsonObject(held) ? held : {}
      if (isLocal && isOfDeadProcess(String(current['holder']))) {
        await release(caller, String(current['id']), context.io.signal).catch(() => {})
        return take()
      }
      const left = Math.ceil((Date.parse(String(current['expiresAt'])) - Date.parse(String(time))) / 1000)
      return {
        holder: `${current['userEmail']}, ${current['holder']}`,
        heldMs: Date.parse(String(time)) - Date.parse(String(current['takenAt'])),
        hint: `If it was killed, its lease ends within ${left} s; to end it now: learnctl api DELETE /v1/apply-lease/${current['id']}`,
      }
    }
  }
}

async function release(caller: Caller, leaseId: string, signal: AbortSignal): Promise<void> {
  await caller.call<Operation>(calls.leases.release, { params: { leaseId }, signal })
}

/** True if the holder of a lease was a process on this machine that has ended. */
function isOfDeadProcess(holder: string): boolean {
  const [, host, pid] = /^(.+), process (\d+)$/.exec(holder) ?? []
  return host === hostname() && !isAlive(Number(pid))
}

function inProgress(session: Session, { holder, heldMs, hint }: Busy): CommandError {
  const seconds = (ms: number) => `${Math.max(0, Math.round(ms / 1000))} s`
  return new CommandError(
    'apply_in_progress',
    'conflict',
    `Another apply to ${platformName(session.target())} is running: ${holder}, for ${seconds(heldMs)}`,
    { why: [`Nothing was changed; waited ${seconds(waitMs)}`], hint },
  )
}

function lockLost(session: Session): CommandError {
  return new CommandError(
    'lease_lost',
    'conflict',
    `Stopped: the lease of this apply to ${platformName(session.target())} was lost`,
    {
      why: ['It could not be renewed in time, and another apply may have begun'],
      hint: 'Run the same command again to continue',
    },
  )
}
