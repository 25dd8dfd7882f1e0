/** Does work side by side, as much at once as the other side takes. */
export interface Pacing {
  /**
   * Waits until there is room, then begins the work; it waits for all earlier work that shares one of its lanes, which
   * is about the same thing. Throws what an earlier work has thrown.
   */
  run(work: () => Promise<void>, lanes?: readonly string[]): Promise<void>
  /** Waits for all that has begun. Throws what one of it has thrown. */
  settled(): Promise<void>
  /** The other side asked to wait: nothing begins for so many milliseconds, and half as much at once from then on. */
  slowDown(waitMs: number): void
  /** How much is done at once now. */
  readonly room: number
}

/**
 * A pace that begins slowly, does one more at once for each round that went well, and halves when told (additive
 * increase, multiplicative decrease, as TCP does: RFC 5681 §3.1). What is told while it already waits is about the same
 * congestion, and halves once.
 *
 * @param maximum at once; 1 keeps the order
 * @param sleep waits so many milliseconds
 */
export function createPacing(maximum: number, sleep: (ms: number) => Promise<void>): Pacing {
  let room = Math.min(2, maximum)
  let pause: Promise<void> | null = null
  const running = new Set<Promise<void>>()
  let ended: PromiseWithResolvers<void> | null = null
  const lanesInUse = new Map<string, Promise<void>>()
  let fault: { readonly error: unknown } | null = null

  const throwFault = () => {
    if (fault) throw fault.error
  }

  async function begin(work: () => Promise<void>, earlier: readonly Promise<void>[]): Promise<void> {
    if (earlier.length > 0) await Promise.all(earlier)
    while (pause) await pause
    // What an earlier one has ended with ends the later ones, too: they may build on it.
    if (fault) return
    try {
      await work()
      room = Math.min(maximum, room + 1 / room)
    } catch (error) {
      fault ??= { error }
    }
  }

  return {
    async run(work, lanes = []) {
      while (running.size >= Math.floor(room)) {
        ended ??= Promise.withResolvers()
        await ended.promise
        throwFault()
      }
      while (pause) await pause
      throwFault()
      const earlier = lanes.flatMap((lane) => lanesInUse.get(lane) ?? [])
      const one = begin(work, earlier).finally(() => {
        running.delete(one)
        ended?.resolve()
        ended = null
        for (const lane of lanes) if (lanesInUse.get(lane) === one) lanesInUse.delete(lane)
      })
      running.add(one)
      for (const lane of lanes) lanesInUse.set(lane, one)
    },
    async settled() {
      await Promise.all(running)
      throwFault()
    },
    slowDown(waitMs) {
      if (pause) return
      room = Math.max(1, room / 2)
      const waiting: Promise<void> = sleep(waitMs)
        // An interruption ends the wait; the work itself says so.
        .catch(() => {})
        .finally(() => {
          if (pause === waiting) pause = null
        })
      pause = waiting
    },
    get room() {
      return Math.floor(room)
    },
  }
}
