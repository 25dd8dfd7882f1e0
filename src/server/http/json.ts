import { isDeepStrictEqual } from 'node:util'
import { jsonFaultIn } from '../../codec/json-fault.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { ProblemError } from '../problem-error.ts'

export const maxDepth = 32
export const maxArrayLength = 1000
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
 * beyond the bounds of `findBoundedFaults` unchanged, because they are refused.
 */
function withoutNegativeZeros(value: unknown, depth: number): unknown {
  if (value === 0) return 0
  if (depth >= maxDepth) return value
  const inner = (member: unknown) => withoutNegativeZeros(member, depth + 1)
  if (Array.isArray(value)) return value.length > maxArrayLength ? value : value.map(inner)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner(member)]))
}

/** Explains invalid JSON. The parser's own message quotes the body, which may contain a secret. */
function reasonFor(text: string): string {
  if (text.trim() === '') return 'it is empty'
  const { offset, line, column } = jsonFaultIn(text)
  const what = offset === text.length ? 'it ends too early' : 'unexpected character'
  return `${what} at line ${line}, column ${column}`
}

/** A step of a JSON pointer (RFC 6901 §3). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A JSON pointer in a URI fragment. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return ['#', ...path.map((step) => escapePointer(String(step)))].join('/')
}

/** RFC 7396: null removes a member, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

export function changedFields<Next extends object>(
  next: Next,
  current: { readonly [Field in keyof Next]?: unknown },
): (keyof Next)[] {
  // The compiler does not know that the object has only the keys of its type.
  return (Object.keys(next) as (keyof Next)[]).filter(
    (field) => !isDeepStrictEqual(next[field], current[field]),
  )
}
