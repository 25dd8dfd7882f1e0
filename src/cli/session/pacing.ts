/** Runs as much at once as the other side accepts. */
export interface Pacing {
  /** Starts after all earlier work in one of its lanes, which is about the same records. Throws the error of earlier work. */
  run(work: () => Promise<void>, lanes?: readonly string[]): Promise<void>
  /** Throws the error of any work. */
  settled(): Promise<void>
  /** Halves the concurrency, because the other side asked for it. */
  slowDown(waitMs: number): void
  readonly room: number
}

/**
 * Creates a pacing that starts slowly, adds one for each successful round, and halves on request (additive
 * increase, multiplicative decrease, as TCP does: RFC 5681 §3.1). Requests during a pause are about the same
 * congestion and do not halve again.
 *
 * @param maximum maximum concurrency; 1 keeps the order
 * @param sleep waits for some milliseconds
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
    // An earlier error stops later work, which may depend on it.
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
        // Interrupted: the work itself throws.
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

type Settled<Item, Value> =
  | { readonly item: Item; readonly value: Value }
  | { readonly item: Item; readonly error: unknown }

const maxWaiting = 256

/** Keeps the order of the items. After a `fatal` error no further work starts; results of started work are yielded. */
export async function* inOrder<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  pacing: Pacing,
  fatal: (error: unknown) => boolean,
): AsyncGenerator<Settled<Item, Value>> {
  const waiting: { settled: Settled<Item, Value> | null; readonly done: Promise<void> }[] = []
  let stopped = false

  for (const item of items) {
    if (stopped) break
    const { promise, resolve } = Promise.withResolvers<void>()
    const place: (typeof waiting)[number] = { settled: null, done: promise }
    waiting.push(place)
    await pacing.run(async () => {
      try {
        place.settled = { item, value: await work(item) }
      } catch (error) {
        place.settled = { item, error }
        stopped ||= fatal(error)
      }
      resolve()
    })
    if (waiting.length >= maxWaiting) await waiting[0]?.done
    while (waiting[0]?.settled) {
      yield waiting[0].settled
      waiting.shift()
    }
  }
  for (const place of waiting) {
    await place.done
    if (place.settled) yield place.settled
  }
}
