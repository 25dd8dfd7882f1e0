import { isDeepStrictEqual } from 'node:util'
import { jsonFaultIn } from '../../codec/json-fault.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { setMembers } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { ProblemError } from '../problem-error.ts'
import { Faults } from './faults.ts'

const maxDepth = 32
const maxArrayLength = 1000
/** Maximum fields of an object. */
export const maxMembers = 1000

/** Parses a body of UTF-8 JSON; throws 400 `invalid_json` with the place of the error. */
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
    throw new ProblemError('invalid_json', `The body is not valid JSON: ${reasonFor(text)}.`, { cause })
  }
}

/**
 * Replaces -0 by 0: columns do not store the sign, so each update would count as a change. Leaves parts
 * beyond the bounds of `structuralFaults` unchanged, because they are refused.
 */
function withoutNegativeZeros(value: unknown, depth: number): unknown {
  if (value === 0) return 0
  if (typeof value !== 'object' || value === null || depth >= maxDepth) return value
  if (Array.isArray(value) && value.length > maxArrayLength) return value
  setMembers(value, (member) => withoutNegativeZeros(member, depth + 1))
  return value
}

/** Explains invalid JSON. The parser's own message quotes the body, which may contain a secret. */
function reasonFor(text: string): string {
  if (text.trim() === '') return 'it is empty'
  const { offset, line, column } = jsonFaultIn(text)
  const what = offset === text.length ? 'it ends too early' : 'unexpected character'
  return `${what} at line ${line}, column ${column}`
}

/**
 * Returns the faults that any body can have: nesting deeper than 32, arrays and objects over 1,000 members,
 * and text that is not well-formed Unicode or contains U+0000 (which SQLite would silently change or
 * truncate, and PostgreSQL refuses).
 */
export function findStructuralFaults(body: unknown): Faults {
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
    if (path.length >= maxDepth) {
      fault('too_deep', `must not be nested deeper than ${maxDepth}`)
    } else if (!Array.isArray(value)) {
      const keys = Object.keys(value)
      if (keys.length > maxMembers) {
        fault('too_many', `must not have more than ${maxMembers} fields`)
        return
      }
      for (const key of keys) {
        if (isStorableText(key)) inside(key, (value as JsonObject)[key])
        else fault('invalid_string', 'has a name that is not well-formed Unicode')
      }
    } else if (value.length > maxArrayLength) {
      fault('too_long', `must not have more than ${maxArrayLength} items`)
    } else {
      for (const [index, item] of value.entries()) inside(index, item)
    }
  }

  look(body)
  return faults
}

/** Detail of a fault for text that cannot be stored. */
export const unsound = 'must be well-formed Unicode without U+0000'

/** Escapes a step of a JSON pointer (RFC 6901 §3). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Formats a path as a JSON pointer in a URI fragment. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return ['#', ...path.map((step) => escapePointer(String(step)))].join('/')
}

/** Merges a patch (RFC 7396): null removes a member, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/** Returns the fields of `next` that differ in `current`. */
export function changedFields<Next extends object>(
  next: Next,
  current: { readonly [Field in keyof Next]?: unknown },
): (keyof Next)[] {
  // The compiler does not know that the object has only the keys of its type.
  return (Object.keys(next) as (keyof Next)[]).filter(
    (field) => !isDeepStrictEqual(next[field], current[field]),
  )
}
