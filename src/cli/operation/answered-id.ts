import type { AnyInput } from '../../client/call.ts'
import { isJsonObject } from '../../codec/json-text.ts'

/**
 * Returns the record of a write for its success line: the answer, sent fields that the answer omits, and the id in
 * its usual place.
 */
export function answeredThing(data: unknown, { body }: AnyInput, id: string | null): unknown {
  const thing = { ...(isJsonObject(body) && body), ...(isJsonObject(data) && data) }
  return id === null || 'id' in thing ? thing : { ...thing, id }
}
