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
    // Columns do not store the sign of -0, so each update would count as a change.
    return negativeZero.test(text) ? JSON.parse(text, (_, member) => (member === 0 ? 0 : member)) : value
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new ProblemError('invalid_json', 'The body is nested too deeply.', { cause })
    }
    throw new ProblemError('invalid_json', `The body is not valid JSON: ${reasonFor(text)}.`, { cause })
  }
}

/** Beginning of such a number, unless it is within a string. */
const negativeZero = /(?:^|[:,[\s])-0/

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
