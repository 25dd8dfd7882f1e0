import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'

/** The OpenAPI document of a platform; null where it has none. */
export async function publishedApi(caller: Caller, signal: AbortSignal): Promise<JsonObject | null> {
  try {
    const { data } = await caller.call(calls.service.openapi, { signal })
    return isJsonObject(data) ? data : null
  } catch (error) {
    const none = error instanceof NotOfferedError || error instanceof ProtocolError
    if (none || (error instanceof ApiError && error.status === 404)) return null
    throw error
  }
}

/** True where an OpenAPI document has the operation. */
export function publishes(document: JsonObject | null, { method, path }: Operation): boolean {
  const paths = document?.['paths']
  const item = isJsonObject(paths) ? paths[path] : undefined
  return isJsonObject(item) && item[method.toLowerCase()] !== undefined
}
