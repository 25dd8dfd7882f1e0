import { isJsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { Fault } from '../../contract/errors.ts'
import { maxArrayLength, maxDepth, maxMembers, pointerOf } from './json.ts'

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
      const place =
        pointer === undefined
          ? { parameter: truncatePlace(parameter ?? '') }
          : { pointer: truncatePlace(pointer) }
      this.#reported.set(`${place.pointer ?? place.parameter} ${fault.code}`, { ...place, ...fault })
    }
  }
}

function truncatePlace(place: string): string {
  return place.length <= maxPlaceLength ? place : `${place.slice(0, maxPlaceLength).toWellFormed()}…`
}

/** Detail of a fault for text that cannot be stored. */
export const unstorableText = 'must be well-formed Unicode without U+0000'

/**
 * Returns the faults that any body can have: nesting deeper than 32, arrays and objects over 1,000 members,
 * and text that is not well-formed Unicode or contains U+0000 (which SQLite would silently change or
 * truncate, and PostgreSQL refuses).
 */
export function findStructuralFaults(body: unknown): Faults {
  const faults = new Faults()
  addStructuralFaults(faults, [], body)
  return faults
}

/** Adds the faults of a value at a path, which is used as a stack. */
function addStructuralFaults(faults: Faults, path: PropertyKey[], value: unknown): void {
  const add = (code: string, detail: string) => faults.add({ pointer: pointerOf(path), code, detail })
  const addOfMember = (step: PropertyKey, member: unknown) => {
    path.push(step)
    addStructuralFaults(faults, path, member)
    path.pop()
  }
  if (typeof value === 'string') {
    if (!isStorableText(value)) add('invalid_string', unstorableText)
  } else if (Array.isArray(value)) {
    if (path.length >= maxDepth) add('too_deep', tooDeep)
    else if (value.length > maxArrayLength) add('too_long', `must not have more than ${maxArrayLength} items`)
    else for (const [index, item] of value.entries()) addOfMember(index, item)
  } else if (isJsonObject(value)) {
    const names = Object.keys(value)
    if (path.length >= maxDepth) add('too_deep', tooDeep)
    else if (names.length > maxMembers) add('too_many', `must not have more than ${maxMembers} fields`)
    else {
      for (const name of names) {
        if (isStorableText(name)) addOfMember(name, value[name])
        else add('invalid_string', 'has a name that is not well-formed Unicode')
      }
    }
  }
}

const tooDeep = `must not be nested deeper than ${maxDepth}`
