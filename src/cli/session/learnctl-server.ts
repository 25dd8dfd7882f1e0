import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { platformName, type Target } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import { CommandError } from '../terminal/errors.ts'

/** Asks the health check, unless an earlier reply has shown it. */
export async function isLearnctlServer(caller: Caller, signal: AbortSignal): Promise<boolean> {
  if (caller.isOurs()) return true
  await caller.call(calls.service.health, { signal }).catch((error: unknown) => {
    // Another platform may have no health check, or something else in its place.
    const isElsewhere = error instanceof NotOfferedError || error instanceof ProtocolError
    if (!isElsewhere && !(error instanceof ApiError && [400, 403, 404, 406].includes(error.status)))
      throw error
  })
  return caller.isOurs()
}

/** Throws before anything is sent. `command` has the words of the command: `roster apply`. */
export async function requireLearnctl(
  session: { readonly target: () => Target },
  caller: Caller,
  command: string,
  signal: AbortSignal,
): Promise<void> {
  if (await isLearnctlServer(caller, signal)) return
  const message = `${platformName(session.target())} is not a learnctl server, which ${command} requires`
  throw new CommandError('not_offered', 'failure', message, {
    why: ['Nothing was sent'],
    hint: 'See what other platforms support: docs/platforms.md',
  })
}
