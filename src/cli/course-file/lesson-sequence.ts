/**
 * Things of a file in the order that is meant: those without a number follow each other as they stand in the file,
 * those with one are at that place of the whole, from 1.
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
 * The numbers that things of a file need so that `inSequence` gives the ranks, which are those from 0 in the order of
 * the file: as few as can be, undefined for the others.
 */
export function told(ranks: readonly number[]): (number | undefined)[] {
  const kept = longestRising(ranks)
  return ranks.map((rank, index) => (kept.has(index) ? undefined : rank + 1))
}

/** The indexes of a longest rising part of distinct numbers, some of which may be left out between. */
export function longestRising(numbers: readonly number[]): ReadonlySet<number> {
  // The index of the least number in which a part of each length can end, and what comes before each number.
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
 * The order that each thing of a sequence has to be given so that they rise, undefined for those that keep theirs: as few
 * as can be. They are given one after the other, and where one comes to a place that is taken, what is there and after it
 * moves up by one, as the API has it.
 *
 * @param orders what each has now, undefined for a new one
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
