import type { Pacing } from '../session/pacing.ts'

/** Result of the work for one item. */
export type Settled<Item, Value> =
  | { readonly item: Item; readonly value: Value }
  | { readonly item: Item; readonly error: unknown }

/** Maximum results that wait for an earlier one. */
const ahead = 256

/**
 * Works on items concurrently, at a given pace, and yields the results in the order of the items. After a `fatal`
 * error no further work starts; results of started work are still yielded.
 */
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
    if (waiting.length >= ahead) await waiting[0]?.done
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
