import { availableParallelism } from 'node:os'
import { clientGone, tooMany } from '../problem-error.ts'
import { createFairQueue, QueueFullError } from './fair-queue.ts'
import type { PasswordCost } from './password-hash.ts'
import type { Principal } from './principal.ts'

/** The caller of a password check, for fair turns. */
export interface PasswordCaller {
  /** A credential, or the network of an attempt to sign in. */
  readonly group: string
  readonly member: string
  /** True if the client has disconnected; waiting work is then dropped. */
  readonly isClientGone: () => boolean
}

/** Returns the turn of a signed-in caller. */
export function callerOf({
  principal,
  isClientGone,
}: Pick<PasswordCaller, 'isClientGone'> & { readonly principal: Principal }): PasswordCaller {
  return { group: principal.userId, member: '', isClientGone }
}

/**
 * Hashes and verifies passwords. Each takes a tenth of a second, so that callers take turns. Both throw 429
 * if the caller has too many waiting, and 408, for the log, if the client has disconnected.
 */
export interface Passwords {
  /** Hashes a new password; null if it is too common. */
  hash(caller: PasswordCaller, password: string): Promise<string | null>
  /** True if the password matches `stored`. Takes as long if `stored` is null, and returns false. */
  verify(caller: PasswordCaller, password: string, stored: string | null): Promise<boolean>
}

/** Maximum waiting work of a caller: that of two batches. */
const longest = 2000
/** Node has four threads for hashing and files; one of them stays free. */
const maxConcurrent = 3

/** Loaded when needed: most runs use no password. */
const hashing = () => import('./password-hash.ts')

/** Creates the passwords of an app, with as many hashes at a time as processors, but at most three. */
export function passwordsOf(cost: PasswordCost | undefined): Passwords {
  const queue = createFairQueue({ atOnce: Math.min(maxConcurrent, availableParallelism()), longest })

  async function inTurn<Result>(
    { group, member, isClientGone }: PasswordCaller,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await queue.run(group, member, async () => {
        if (isClientGone()) throw clientGone()
        return work()
      })
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error
      throw tooMany('passwords waiting to be checked', 10)
    }
  }

  return {
    async hash(caller, password) {
      const { isCommonPassword } = await import('./common-password.ts')
      if (await isCommonPassword(password)) return null
      return inTurn(caller, async () => (await hashing()).hashPassword(password, cost))
    },
    verify: (caller, password, stored) =>
      inTurn(caller, async () => {
        const { unmatchablePassword, verifyPassword } = await hashing()
        const right = await verifyPassword(password, stored ?? unmatchablePassword(cost))
        return right && stored !== null
      }),
  }
}
