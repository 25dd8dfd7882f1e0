import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { isAlive } from '../../config/lock.ts'
import { platformName } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import type { Context } from '../command/context.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError } from '../terminal/errors.ts'
import { note } from '../terminal/io.ts'

type Session = Context['session']

/** The server drops a lease that is not renewed for a minute. */
const renewEveryMs = 10_000
const waitMs = 30_000
const lookEveryMs = 1000
const releaseWithinMs = 5000

/**
 * Runs `work` while holding the apply lease of the academy of `session`, which is renewed meanwhile and released at
 * the end. The signal in the context of `work` aborts if the lease is lost. Throws a CommandError that names the
 * holder (exit 6).
 */
export async function whileApplying<Result>(
  context: Context,
  session: Session,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const { io } = context
  const caller = await session.caller()
  await requireLearnctl(session, caller, 'this command', io.signal)
  const body = { id: randomUUID(), holder: `${hostname()}, process ${process.pid}` }
  const take = async (signal?: AbortSignal) =>
    (await caller.call(calls.leases.take, { body, signal })).data.takenAt
  const takenAt = await waitFor(context, session, caller, () => take(io.signal))
  const lost = new AbortController()
  let renewal: Promise<void> | null = null
  const renew = async () => {
    // Where a request fails, the next one says whether the lease was lost.
    const isHeld = await take().then(
      (at) => at === takenAt,
      (error) => !isInProgress(error),
    )
    if (!isHeld) lost.abort(leaseLost(session))
    renewal = null
  }
  const timer = setInterval(() => {
    renewal ??= renew()
  }, renewEveryMs)
  timer.unref()
  try {
    const signal = AbortSignal.any([io.signal, lost.signal])
    return await work({ ...context, io: { ...io, signal } })
  } catch (error) {
    throw lost.signal.aborted && !io.signal.aborted ? lost.signal.reason : error
  } finally {
    clearInterval(timer)
    await renewal
    // A lease that could not be released expires.
    await release(caller, body.id, AbortSignal.timeout(releaseWithinMs)).catch(() => {})
  }
}

async function waitFor<Taken>(
  { io }: Context,
  session: Session,
  caller: Caller,
  take: () => Promise<Taken>,
): Promise<Taken> {
  const isLocal = session.target().kind === 'local'
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    try {
      return await take()
    } catch (error) {
      if (!isInProgress(error)) throw error
      const lease = leaseIn(error)
      if (isLocal && isOfDeadProcess(String(lease['holder']))) {
        await release(caller, String(lease['id']), io.signal).catch(() => {})
        continue
      }
      if (waitedMs >= waitMs) throw inProgress(session, error)
      const holder = `${lease['userEmail']}, ${lease['holder']}`
      if (waitedMs === 0) await note(io, `Waiting for another apply to end: ${holder}`)
    }
    await io.sleep(lookEveryMs, io.signal)
    io.signal.throwIfAborted()
  }
}

async function release(caller: Caller, leaseId: string, signal: AbortSignal): Promise<void> {
  await caller.call(calls.leases.release, { params: { leaseId }, signal })
}

function isInProgress(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'apply_in_progress'
}

function leaseIn({ problem }: ApiError) {
  const lease = problem?.['lease']
  return isJsonObject(lease) ? lease : {}
}

/** True if the process was one of this machine and has ended. */
function isOfDeadProcess(holder: string): boolean {
  const [, host, pid] = /^(.+), process (\d+)$/.exec(holder) ?? []
  return host === hostname() && !isAlive(Number(pid))
}

function inProgress(session: Session, error: ApiError): CommandError {
  const { id, userEmail, holder, takenAt, expiresAt } = leaseIn(error)
  const timeMs = Date.parse(String(error.problem?.['time']))
  const heldMs = timeMs - Date.parse(String(takenAt))
  const left = Math.ceil((Date.parse(String(expiresAt)) - timeMs) / 1000)
  const seconds = (ms: number) => `${Math.max(0, Math.round(ms / 1000))} s`
  return new CommandError(
    'apply_in_progress',
    'conflict',
    `Another apply to ${platformName(session.target())} is running: ${userEmail}, ${holder}, for ${seconds(heldMs)}`,
    {
      why: [`Nothing was changed; waited ${seconds(waitMs)}`],
      hint: `If it was killed, its lease ends within ${left} s; to end it now: learnctl api DELETE /v1/apply-lease/${id}`,
    },
  )
}

function leaseLost(session: Session): CommandError {
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
