import type { Fault } from '../../contract/errors.ts'

const maxReported = 100
const maxPlaceLength = 200

/**
 * The faults of a request. A body of 1 MiB can have 100,000 unknown fields: the first hundred faults are
 * reported and the others counted, and long places are truncated, so that the response is never much longer
 * than the request.
 */
export class Faults {
  readonly #reported = new Map<string, Fault>()
  #more = 0

  /** Reported faults, each place once for each code. */
  get reported(): readonly Fault[] {
    return [...this.#reported.values()]
  }

  /** Number of further faults. */
  get more(): number {
    return this.#more
  }

  get count(): number {
    return this.#reported.size + this.#more
  }

  add(fault: Fault): void {
    this.addEach([fault], () => fault)
  }

  /** Adds a fault for each item; creates it only if it is reported. */
  addEach<Thing>(things: readonly Thing[], faultOf: (thing: Thing) => Fault): void {
    for (const [index, thing] of things.entries()) {
      if (this.#reported.size >= maxReported) {
        this.#more += things.length - index
        return
      }
      const { pointer, parameter, ...fault } = faultOf(thing)
      const place = pointer === undefined ? { parameter: cut(parameter ?? '') } : { pointer: cut(pointer) }
      this.#reported.set(`${place.pointer ?? place.parameter} ${fault.code}`, { ...place, ...fault })
    }
  }
}

function cut(place: string): string {
  return place.length <= maxPlaceLength ? place : `${place.slice(0, maxPlaceLength).toWellFormed()}…`
}
