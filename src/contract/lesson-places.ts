import type { JsonObject } from '../codec/json-text.ts'

/** A lesson of a file with the existing one, null for a new lesson; or an existing one that the file does not have. */
type Pair<Wanted, Current> =
  | { readonly wanted: Wanted; readonly current: Current | null }
  | { readonly wanted: null; readonly current: Current }

/** Lesson in the final order of its course; `move` is undefined if it keeps its place. */
export type PlacedLesson<Wanted, Current> = Pair<Wanted, Current> & { readonly move: Move | undefined }

/** New place of a lesson. */
export interface Move {
  /** Value of `order` to send. */
  readonly number: number
  /** Places among the lessons of the course, from 1; 0 for a new lesson. */
  readonly from: number
  readonly to: number
}

/**
 * Returns all lessons in the final order of the course, as few of them with a new place as possible. They are to be
 * sent in this order. Lessons that the file does not have stay behind their predecessor.
 *
 * @param there lessons of the course in their order
 */
export function placeLessons<Wanted, Current extends { readonly shown: JsonObject }>(
  wanted: readonly Wanted[],
  there: readonly Current[],
  matched: ReadonlyMap<Wanted, Current>,
): PlacedLesson<Wanted, Current>[] {
  const inFile = new Map([...matched].map(([lesson, current]) => [current, lesson]))
  const sequence = wanted.map(
    (lesson): Pair<Wanted, Current> => ({ wanted: lesson, current: matched.get(lesson) ?? null }),
  )
  for (const [index, current] of there.entries()) {
    if (inFile.has(current)) continue
    const before = there[index - 1]
    const place = before ? sequence.findIndex((lesson) => lesson.current === before) + 1 : 0
    sequence.splice(place, 0, { wanted: null, current })
  }
  const now = new Map(there.map((lesson, index) => [lesson, index + 1]))
  const orders = sequence.map(({ current }) => {
    const order = current?.shown['order']
    return typeof order === 'number' ? order : undefined
  })
  const numbers = placesFor(orders)
  return sequence.map((lesson, index) => {
    const number = numbers[index]
    const from = (lesson.current && now.get(lesson.current)) ?? 0
    return { ...lesson, move: number === undefined ? undefined : { number, from, to: index + 1 } }
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

/** Returns the existing lessons of a course that have to move, in the order of sending; as few as possible. */
export function movesIn(
  places: readonly { readonly id?: string | undefined; readonly order: number }[],
  lessons: readonly JsonObject[],
): (Move & { readonly id: string; readonly shown: JsonObject })[] {
  const there = lessons
    .map((shown) => ({ id: String(shown['id']), shown }))
    .sort((one, other) => Number(one.shown['order']) - Number(other.shown['order']))
  const byId = new Map(there.map((lesson) => [lesson.id, lesson]))
  const matched = new Map(
    places.flatMap((place) => {
      const lesson = byId.get(place.id ?? '')
      return lesson ? [[place, lesson]] : []
    }),
  )
  const wanted = places.toSorted((one, other) => one.order - other.order)
  return placeLessons(wanted, there, matched).flatMap(({ current, move }) =>
    current && move ? [{ ...current, ...move }] : [],
  )
}
