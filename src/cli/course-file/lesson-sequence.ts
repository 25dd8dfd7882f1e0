/**
 * Sorts things of a file: numbered ones take that place of the whole, from 1; the others fill the gaps in file order.
 */
export function inSequence<Thing>(
  things: readonly Thing[],
  numberOf: (thing: Thing) => number | undefined,
): Thing[] {
  const sequence = things.filter((thing) => numberOf(thing) === undefined)
  const numbered = things.filter((thing) => numberOf(thing) !== undefined)
  numbered.sort((one, other) => (numberOf(one) ?? 0) - (numberOf(other) ?? 0))
  for (const thing of numbered) sequence.splice((numberOf(thing) ?? 1) - 1, 0, thing)
  return sequence
}

/**
 * Returns the numbers that things need so that `inSequence` gives these ranks (from 0, in file order): as few as
 * possible, undefined for the others.
 */
export function told(ranks: readonly number[]): (number | undefined)[] {
  const kept = longestRising(ranks)
  return ranks.map((rank, index) => (kept.has(index) ? undefined : rank + 1))
}

/** Returns the indexes of a longest increasing subsequence of distinct numbers. */
export function longestRising(numbers: readonly number[]): ReadonlySet<number> {
  // For each length, the index of the smallest number that ends such a subsequence; and the predecessor of each
  // number.
  const ends: number[] = []
  const before: (number | undefined)[] = []
  for (const [index, number] of numbers.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    before.push(ends[low - 1])
    ends[low] = index
  }
  const part = new Set<number>()
  for (let at = ends.at(-1); at !== undefined; at = before[at]) part.add(at)
  return part
}

/**
 * Returns the `order` to set on each thing so that the values increase, undefined for those that keep theirs: as few
 * as possible. They are set one after the other; as in the API, setting a taken place shifts that thing and the
 * following ones by one.
 *
 * @param orders current values, undefined for a new thing
 */
export function placesFor(orders: readonly (number | undefined)[]): (number | undefined)[] {
  const there = orders.flatMap((order, index) => (order === undefined ? [] : [index]))
  const rising = longestRising(there.map((index) => orders[index] ?? 0))
  const kept = new Set(there.filter((_, index) => rising.has(index)))
  const now = [...orders]
  let taken = new Set(orders)
  let last = 0
  return orders.map((_, index) => {
    const place = now[index]
    if (kept.has(index) && place !== undefined) {
      last = place
      return undefined
    }
    last += 1
    now[index] = undefined
    if (taken.has(last) && now.includes(last)) {
      for (const [other, order] of now.entries())
        if (order !== undefined && order >= last) now[other] = order + 1
      taken = new Set(now)
    }
    now[index] = last
    taken.add(last)
    return last
  })
}
