import { availableParallelism } from 'node:os'
import { clientGone, tooMany } from '../problem-error.ts'
import type { PasswordCost } from './password-hash.ts'
import type { Principal } from './principal.ts'

/** The caller of a password check, for fair turns. */
interface PasswordCaller {
  /** A credential, or the network of an attempt to sign in. */
  readonly group: string
  readonly member: string
  /** True if the client has disconnected; waiting work is then dropped. */
  readonly isClientGone: () => boolean
}

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
  /** Null if it is too common. */
  hash(caller: PasswordCaller, password: string): Promise<string | null>
  /** Takes as long if `stored` is null, and returns false. */
  verify(caller: PasswordCaller, password: string, stored: string | null): Promise<boolean>
}

/** Maximum waiting work of a caller: that of two batches. */
const maxWaiting = 2000
/** Node has four threads for hashing and files; one of them stays free. */
const maxConcurrent = 3

/** Loaded when needed: most runs use no password. */
const hashing = () => import('./password-hash.ts')

/** As many hashes at a time as processors, but at most three. */
export function passwordsOf(cost: PasswordCost | undefined): Passwords {
  const queue = createFairQueue({ atOnce: Math.min(maxConcurrent, availableParallelism()), maxWaiting })

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

interface FairQueue {
  /**
   * Runs the work in its turn. Turns rotate among the groups with waiting work, and within a group among its
   * members: a hundred pieces of one member delay another's single piece by one. Throws QueueFullError if too
   * much work of the group is waiting.
   *
   * @param group members that share a turn, such as all users behind one address
   * @param member one of them
   */
  run<Result>(group: string, member: string, work: () => Promise<Result>): Promise<Result>
}

/** Its group has the maximum of waiting work. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

type Turn = () => Promise<void>

/**
 * Waiting turns by name, next first. A Map keeps insertion order, so deleting and re-inserting a name moves
 * it to the end.
 */
type Line = Map<string, Turn[]>

interface Group {
  readonly members: Line
  waiting: number
}

/**
 * Creates a queue that runs `atOnce` pieces of work at a time, and lets each group have `maxWaiting` waiting.
 */
export function createFairQueue({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }): FairQueue {
  const groups = new Map<string, Group>()
  let running = 0

  function next(): Turn | undefined {
    const [first] = groups
    if (!first) return undefined
    const [name, group] = first
    groups.delete(name)
    const turn = takeFrom(group.members)
    group.waiting -= 1
    if (group.waiting > 0) groups.set(name, group)
    return turn
  }

  function go(): void {
    while (running < atOnce) {
      const turn = next()
      if (!turn) return
      running += 1
      void turn().finally(() => {
        running -= 1
        go()
      })
    }
  }

  return {
    run<Result>(name: string, member: string, work: () => Promise<Result>) {
      const group = groups.get(name) ?? { members: new Map(), waiting: 0 }
      if (group.waiting >= maxWaiting) return Promise.reject(new QueueFullError())
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const turns = group.members.get(member) ?? []
      turns.push(() => work().then(resolve, reject))
      group.members.set(member, turns)
      group.waiting += 1
      groups.set(name, group)
      go()
      return promise
    },
  }
}

function takeFrom(members: Line): Turn | undefined {
  const [first] = members
  if (!first) return undefined
  const [name, turns] = first
  const turn = turns.shift()
  members.delete(name)
  if (turns.length > 0) members.set(name, turns)
  return turn
}
