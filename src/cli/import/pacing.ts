/** Does work side by side, as much at once as the other side takes. */
export interface Pacing {
  /** Waits until there is room, then begins the work. Throws what an earlier work has thrown. */
  run(work: () => Promise<void>): Promise<void>
  /** Waits for all that has begun. Throws what one of it has thrown. */
  settled(): Promise<void>
  /** The other side asked to wait: half as much from now on. */
  slowDown(): void
}

/**
 * A pace that begins slowly, does one more at once for each round that went well, and halves when told (additive
 * increase, multiplicative decrease, as TCP does: RFC 5681).
 *
 * @param maximum at once; 1 keeps the order
 */
export function createPacing(maximum: number): Pacing {
  let room = Math.min(2, maximum)
  const running = new Set<Promise<void>>()
  let fault: { readonly error: unknown } | null = null

  const throwFault = () => {
    if (fault) throw fault.error
  }

  return {
    async run(work) {
      while (running.size >= Math.floor(room)) {
        await Promise.race(running)
        throwFault()
      }
      throwFault()
      const one = work()
        .then(() => {
          room = Math.min(maximum, room + 1 / room)
        })
        .catch((error: unknown) => {
          fault ??= { error }
        })
        .finally(() => running.delete(one))
      running.add(one)
    },
    async settled() {
      await Promise.all(running)
      throwFault()
    },
    slowDown() {
      room = Math.max(1, room / 2)
    },
  }
}
