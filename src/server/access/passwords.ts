import { availableParallelism } from 'node:os'
import { clientGone, tooMany } from '../problem/problem-error.ts'
import { fairQueue, QueueFullError } from './fair-queue.ts'
import type { PasswordCost } from './password.ts'
import type { Principal } from './principal.ts'

/** In whose turn a password is hashed: one of those who share a group. */
export interface PasswordCaller {
  /** A credential, or the network that an attempt to sign in came from. */
  readonly group: string
  readonly member: string
  /** True once nobody waits for the answer: what has not begun by then is not worth its tenth of a second. */
  readonly hasLeft: () => boolean
}

/** The turn of somebody who is signed in. */
export function callerOf({
  principal,
  hasLeft,
}: Pick<PasswordCaller, 'hasLeft'> & { readonly principal: Principal }): PasswordCaller {
  return { group: principal.userId, member: '', hasLeft }
}

/**
 * The passwords of an app: hashing takes a tenth of a second each, so that callers take turns. Both throw 429 where the
 * caller has too many waiting, and 408, for the log alone, where nobody waits for the answer any more.
 */
export interface Passwords {
  /** A new password as it is stored, or null for one that is too common. */
  hash(caller: PasswordCaller, password: string): Promise<string | null>
  /** True when the password is the one that was hashed; false, after as long a time, where `stored` is null. */
  verify(caller: PasswordCaller, password: string, stored: string | null): Promise<boolean>
}

/** Twice as many as fit into one batch. */
const longest = 2000
/** Node has four threads for such work, and for files: one of them is to stay free. */
const mostAtOnce = 3

/** Most runs of the program never see a password. */
const hashing = () => import('./password.ts')

/** Hashes and checks passwords at this cost, as many at a time as the machine has processors, at most three. */
export function passwordsOf(cost: PasswordCost | undefined): Passwords {
  const queue = fairQueue({ atOnce: Math.min(mostAtOnce, availableParallelism()), longest })

  async function inTurn<Result>(
    { group, member, hasLeft }: PasswordCaller,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await queue.run(group, member, async () => {
        if (hasLeft()) throw clientGone()
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
        const { nobodysPassword, verifyPassword } = await hashing()
        const right = await verifyPassword(password, stored ?? nobodysPassword(cost))
        return right && stored !== null
      }),
  }
}
