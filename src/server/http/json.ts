import { isDeepStrictEqual } from 'node:util'
import { jsonFaultIn } from '../../codec/json-fault.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { setMembers } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { Faults } from './faults.ts'

const maximumDepth = 32
const maximumArray = 1000
/** The most fields that an object may have. */
export const maximumMembers = 1000

/** Parses a body of UTF-8 JSON; throws 400 `invalid_json` that says where it goes wrong. */
export function parseJson(bytes: ArrayBuffer | Uint8Array): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ProblemError('invalid_json', 'The body must be UTF-8.', { cause })
  }
  try {
    const value: unknown = JSON.parse(text)
    return text.includes('-0') ? withoutNegativeZeros(value, 0) : value
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new ProblemError('invalid_json', 'The body is nested too deeply.', { cause })
    }
    throw new ProblemError('invalid_json', `The body is not valid JSON: ${whyNot(text)}.`, { cause })
  }
}

/**
 * The value with 0 for each -0: a column keeps no sign of zero, and told apart, it would be a change each time that it is
 * sent. A part beyond the bounds of `structuralFaults` is left as it is, as it is refused.
 */
function withoutNegativeZeros(value: unknown, depth: number): unknown {
  if (value === 0) return 0
  if (typeof value !== 'object' || value === null || depth >= maximumDepth) return value
  if (Array.isArray(value) && value.length > maximumArray) return value
  setMembers(value, (member) => withoutNegativeZeros(member, depth + 1))
  return value
}

/** In words of our own: what the parser says has a piece of the body, and a secret may be in that. */
function whyNot(text: string): string {
  if (text.trim() === '') return 'it is empty'
  const { offset, line, column } = jsonFaultIn(text)
  const what = offset === text.length ? 'it ends too early' : 'unexpected character'
  return `${what} at line ${line}, column ${column}`
}

/**
 * The faults that any body can have, whatever it describes: deeper than 32, arrays and objects over 1,000, text that is not
 * well-formed Unicode or has U+0000 in it (which SQLite would change or cut without a word, and PostgreSQL refuses).
 */
export function structuralFaults(body: unknown): Faults {
  const faults = new Faults()
  const path: PropertyKey[] = []

  function fault(code: string, detail: string): void {
    faults.add({ pointer: pointerOf(path), code, detail })
  }

  function inside(step: PropertyKey, value: unknown): void {
    path.push(step)
    look(value)
    path.pop()
  }

  function look(value: unknown): void {
    if (typeof value === 'string') {
      if (!isStorableText(value)) fault('invalid_string', unsound)
      return
    }
    if (typeof value !== 'object' || value === null) return
    if (path.length >= maximumDepth) {
      fault('too_deep', `must not be nested deeper than ${maximumDepth}`)
    } else if (!Array.isArray(value)) {
      const keys = Object.keys(value)
      if (keys.length > maximumMembers) {
        fault('too_many', `must not have more than ${maximumMembers} fields`)
        return
      }
      for (const key of keys) {
        if (isStorableText(key)) inside(key, (value as JsonObject)[key])
        else fault('invalid_string', 'has a name that is not well-formed Unicode')
      }
    } else if (value.length > maximumArray) {
      fault('too_long', `must not have more than ${maximumArray} items`)
    } else {
      for (const [index, item] of value.entries()) inside(index, item)
    }
  }

  look(body)
  return faults
}

/** What is told of a text that is not sound. */
export const unsound = 'must be well-formed Unicode without U+0000'

/** One step of a JSON pointer (RFC 6901 §3). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A JSON pointer as a URI fragment from the steps of a path. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return ['#', ...path.map((step) => escapePointer(String(step)))].join('/')
}

/** RFC 7396: null takes a member away, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/** The fields of `next` that have another value in `current`. */
export function changedFields<Next extends object>(
  next: Next,
  current: { readonly [Field in keyof Next]?: unknown },
): (keyof Next)[] {
  // The keys of an object are among those of its type; the compiler does not say so.
  return (Object.keys(next) as (keyof Next)[]).filter(
    (field) => !isDeepStrictEqual(next[field], current[field]),
  )
}
