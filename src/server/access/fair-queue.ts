/** Work that waits for its turn, a few pieces at a time. */
export interface FairQueue {
  /**
   * Does the work when its turn comes. Turns go round among the groups that have any waiting, and within a group among
   * its members: whoever brings a hundred pieces delays whoever brings one by one piece. Throws QueueFullError where
   * the group has too much waiting already.
   *
   * @param group those who are to have one share together, such as all behind one address
   * @param member one of them
   */
  run<Result>(group: string, member: string, work: () => Promise<Result>): Promise<Result>
}

/** A group has as much waiting as it may. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

type Turn = () => Promise<void>

/**
 * Turns by name, the one whose turn it is first: a map keeps the order in which its names came, so that taking a name
 * out and putting it back sends it to the end.
 */
type Line = Map<string, Turn[]>

interface Group {
  readonly members: Line
  waiting: number
}

/** A queue that does `atOnce` pieces of work at a time and lets each group have `longest` waiting. */
export function fairQueue({ atOnce, longest }: { atOnce: number; longest: number }): FairQueue {
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
