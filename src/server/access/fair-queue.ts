/** Runs work in turns, a few pieces at a time. */
export interface FairQueue {
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

/** A group has its maximum of waiting work. */
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
 * Creates a queue that runs `atOnce` pieces of work at a time, and lets each group have `longest` waiting.
 */
export function createFairQueue({ atOnce, longest }: { atOnce: number; longest: number }): FairQueue {
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
      if (group.waiting >= longest) return Promise.reject(new QueueFullError())
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
