import type { JsonObject } from '../codec/json-text.ts'

interface Move {
  readonly id: string
  readonly shown: JsonObject
  readonly number: number
  /** Places among the lessons of the course, from 1. */
  readonly from: number
  readonly to: number
}

/**
 * Returns the existing lessons of a course that have to move, in the order of sending; as few as possible. Lessons without
 * a declared place stay behind their predecessor.
 */
export function movesIn(
  places: readonly { readonly id?: string | undefined; readonly order: number }[],
  lessons: readonly JsonObject[],
): Move[] {
  const there = lessons.toSorted((one, other) => Number(one['order']) - Number(other['order']))
  const byId = new Map(there.map((lesson) => [String(lesson['id']), lesson]))
  const sequence = places.toSorted((one, other) => one.order - other.order).map(({ id = '' }) => byId.get(id))
  const declared = new Set(sequence)
  for (const [index, lesson] of there.entries()) {
    if (declared.has(lesson)) continue
    const before = there[index - 1]
    sequence.splice(before ? sequence.indexOf(before) + 1 : 0, 0, lesson)
  }
  const now = new Map(there.map((lesson, index) => [lesson, index + 1]))
  const numbers = placesFor(
    sequence.map((lesson) => {
      const order = lesson?.['order']
      return typeof order === 'number' ? order : undefined
    }),
  )
  return sequence.flatMap((shown, index) => {
    const number = numbers[index]
    if (!shown || number === undefined) return []
    return [{ id: String(shown['id']), shown, number, from: now.get(shown) ?? 0, to: index + 1 }]
  })
}

/**
 * Returns the `order` to set on each thing so that the values increase, undefined for those that keep theirs: as few
 * as possible. They are set one after the other; as in the API, setting a taken place shifts that thing and the
 * following ones by one.
 *
 * @param orders current values, undefined for a new thing
 */
function placesFor(orders: readonly (number | undefined)[]): (number | undefined)[] {
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

/** Indexes of a longest increasing subsequence; the numbers are distinct. */
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
