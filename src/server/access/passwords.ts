import { availableParallelism } from 'node:os'
import { clientGone, tooMany } from '../problem-error.ts'
import type { PasswordCost } from './password-hash.ts'
import type { Principal } from './principal.ts'

interface PasswordCaller {
  readonly name: string
  /** True if the client has disconnected; waiting work is then dropped. */
  readonly isClientGone: () => boolean
}

export function callerOf({
  principal,
  isClientGone,
}: Pick<PasswordCaller, 'isClientGone'> & { readonly principal: Principal }): PasswordCaller {
  return { name: principal.userId, isClientGone }
}

/** Callers take turns. Both throw 429 if the caller has too many waiting, and 408 if the client has disconnected. */
export interface Passwords {
  /** Null if it is too common. */
  hash(caller: PasswordCaller, password: string): Promise<string | null>
  /** Takes as long if `stored` is null, and returns false. */
  verify(caller: PasswordCaller, password: string, stored: string | null): Promise<boolean>
}

const maxWaiting = 2000
/** Node has four threads for hashing and files; one of them stays free. */
const maxConcurrent = 3

/** Loaded when needed: most runs use no password. */
const hashing = () => import('./password-hash.ts')

export function passwordsOf(cost: PasswordCost | undefined): Passwords {
  const atOnce = Math.min(maxConcurrent, availableParallelism())
  const refusal = () => tooMany('passwords waiting to be checked', 10)
  const queue = createFairQueue({ atOnce, maxWaiting, refusal })

  function inTurn<Result>({ name, isClientGone }: PasswordCaller, work: () => Promise<Result>) {
    return queue.run(name, async () => {
      if (isClientGone()) throw clientGone()
      return work()
    })
  }

  return {
    async hash(caller, password) {
      const { isCommonPassword } = await import('./password-hash.ts')
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

interface QueueOptions {
  readonly atOnce: number
  readonly maxWaiting: number
  readonly refusal: () => Error
}

/** Turns rotate among the callers with waiting work: a hundred pieces of one delay another's single piece by one. */
export function createFairQueue({ atOnce, maxWaiting, refusal }: QueueOptions) {
  /** In the order of their turns: a Map keeps insertion order. */
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let running = 0

  function go(): void {
    for (const [caller, works] of waiting) {
      if (running >= atOnce) return
      const work = works.shift()
      waiting.delete(caller)
      if (works.length > 0) waiting.set(caller, works)
      running += 1
      void work?.().finally(() => {
        running -= 1
        go()
      })
    }
  }

  return {
    run<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
      const works = waiting.get(caller) ?? []
      if (works.length >= maxWaiting) return Promise.reject<Result>(refusal())
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      works.push(() => work().then(resolve, reject))
      waiting.set(caller, works)
      go()
      return promise
    },
  }
}
