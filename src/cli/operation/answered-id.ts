import type { AnyInput } from '../../client/call-input.ts'
import { isJsonObject } from '../../codec/json-object.ts'

/**
 * What a write made or changed, for the line that says so: the answer, what was sent where that leaves something out,
 * and the id in its usual place.
 */
export function answeredThing(data: unknown, { body }: AnyInput, id: string | null): unknown {
  const thing = { ...(isJsonObject(body) && body), ...(isJsonObject(data) && data) }
  return id === null || 'id' in thing ? thing : { ...thing, id }
}
