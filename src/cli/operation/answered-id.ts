import type { AnyInput, Result } from '../../client/call-input.ts'
import { nounOf } from '../../client/foreign/names.ts'
import { idOf } from '../../client/foreign/record.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { parseReference } from '../../codec/reference.ts'
import type { Operation } from '../../contract/operation.ts'

/**
 * The id of what a write made or changed: in its answer, else where `Location` says it is, else by which it was named.
 * Null where nothing tells.
 */
export function answeredId(
  operation: Operation,
  { params }: AnyInput,
  { data, location }: Pick<Result<unknown>, 'data' | 'location'>,
): string | null {
  const [named] = Object.values(params ?? {})
  const id = named !== undefined && parseReference(named).by === 'id' ? named : null
  return idOf(data, nounOf(operation), operation.identifier) ?? idInLocation(operation, location) ?? id
}

/**
 * What a write made or changed, for the line that says so: the answer, what was sent where that leaves something out,
 * and the id in its usual place.
 */
export function answeredThing(data: unknown, { body }: AnyInput, id: string | null): unknown {
  const thing = { ...(isJsonObject(body) && body), ...(isJsonObject(data) && data) }
  return id === null || 'id' in thing ? thing : { ...thing, id }
}

/** The last segment of a `Location` that is inside the collection which was written to (RFC 9110 §10.2.2). */
function idInLocation({ path }: Operation, location: string | null): string | null {
  const base = 'http://localhost'
  if (location === null || !URL.canParse(location, base)) return null
  const segment = new URL(location, base).pathname.split('/').filter(Boolean).at(-1)
  if (segment === undefined || segment === path.split('/').at(-1)) return null
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
