import type { Fault } from '../../contract/errors.ts'

const maximumTold = 100
const maximumPlace = 200

/**
 * What is wrong with one request. A body of 1 MiB has room for 100,000 unknown fields: the first hundred faults are
 * told, the others only counted, and a place that a client made up is cut where it gets long. So an answer is never
 * much longer than what it answers, and the client reads it whole.
 */
export class Faults {
  readonly #told = new Map<string, Fault>()
  #more = 0

  /** The faults that are told, each place once for each code. */
  get told(): readonly Fault[] {
    return [...this.#told.values()]
  }

  /** How many there are besides. */
  get more(): number {
    return this.#more
  }

  get count(): number {
    return this.#told.size + this.#more
  }

  add(fault: Fault): void {
    this.addEach([fault], () => fault)
  }

  /** A fault for each of these things, made only where it is told. */
  addEach<Thing>(things: readonly Thing[], faultOf: (thing: Thing) => Fault): void {
    for (const [index, thing] of things.entries()) {
      if (this.#told.size >= maximumTold) {
        this.#more += things.length - index
        return
      }
      const { pointer, parameter, ...fault } = faultOf(thing)
      const place = pointer === undefined ? { parameter: cut(parameter ?? '') } : { pointer: cut(pointer) }
      this.#told.set(`${place.pointer ?? place.parameter} ${fault.code}`, { ...place, ...fault })
    }
  }
}

function cut(place: string): string {
  return place.length <= maximumPlace ? place : `${place.slice(0, maximumPlace).toWellFormed()}…`
}
