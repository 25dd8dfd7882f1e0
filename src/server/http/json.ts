import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../../codec/json-object.ts'
import type { Fault } from '../../contract/errors.ts'
import { ProblemError } from '../problem/problem-error.ts'

const maximumDepth = 32
const maximumArray = 1000

/** Parses a body of UTF-8 JSON; throws 400 `invalid_json` that says where it goes wrong. */
export function parseJson(bytes: ArrayBuffer | Uint8Array): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ProblemError('invalid_json', 'The body must be UTF-8.', { cause })
  }
  try {
    // A column keeps no sign of zero: told apart, -0 would be a change each time that it is sent.
    return JSON.parse(
      text,
      text.includes('-0') ? (_, value: unknown) => (value === 0 ? 0 : value) : undefined,
    )
  } catch (cause) {
    const why = text.trim() === '' ? 'it is empty' : (cause as SyntaxError).message
    throw new ProblemError('invalid_json', `The body is not valid JSON: ${why}.`, { cause })
  }
}

/**
 * The faults that any body can have, whatever it describes: deeper than 32, arrays over 1,000, text that is not
 * well-formed Unicode or has U+0000 in it (which SQLite would change or cut without a word).
 */
export function structuralFaults(value: unknown, pointer = '#', depth = 1): Fault[] {
  if (typeof value === 'string') {
    if (value.isWellFormed() && !value.includes('\0')) return []
    return [{ pointer, code: 'invalid_string', detail: 'must be well-formed Unicode without U+0000' }]
  }
  if (typeof value !== 'object' || value === null) return []
  if (depth > maximumDepth) {
    return [{ pointer, code: 'too_deep', detail: `must not be nested deeper than ${maximumDepth}` }]
  }
  if (Array.isArray(value)) {
    if (value.length > maximumArray) {
      return [{ pointer, code: 'too_long', detail: `must not have more than ${maximumArray} items` }]
    }
    return value.flatMap((item, index) => structuralFaults(item, `${pointer}/${index}`, depth + 1))
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const place = `${pointer}/${escapePointer(key)}`
    if (!key.isWellFormed() || key.includes('\0')) {
      return [{ pointer, code: 'invalid_string', detail: 'has a name that is not well-formed Unicode' }]
    }
    return structuralFaults(item, place, depth + 1)
  })
}

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
