import type { Caller } from '../../client/caller.ts'
import { leave } from '../../client/decode.ts'
import { encodePath, type PathParameters } from '../../client/encode.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'

/** Refusals that say nothing about whether there is a document: no credential, or a platform in trouble. */
const troubles = [401, 429, 502, 503, 504]

/** The OpenAPI document of a platform; null where it has none. */
export async function publishedApi(caller: Caller, signal: AbortSignal): Promise<JsonObject | null> {
  try {
    const { data } = await caller.call(calls.service.openapi, { signal })
    return isJsonObject(data) && isJsonObject(data['paths']) ? data : null
  } catch (error) {
    const refused = error instanceof ApiError && !troubles.includes(error.status)
    if (refused || error instanceof NotOfferedError || error instanceof ProtocolError) return null
    throw error
  }
}

/** What an OpenAPI document says of an operation; undefined where it lacks it. The names of parameters do not count. */
export function publishedOperation(
  document: JsonObject | null,
  { method, path }: Pick<Operation, 'method' | 'path'>,
): JsonObject | undefined {
  const paths = isJsonObject(document?.['paths']) ? document['paths'] : {}
  const sought = unnamed(path)
  const [, item] =
    Object.entries(paths).find(([each]) => each === path) ??
    Object.entries(paths).find(([each]) => unnamed(each) === sought) ??
    []
  const operation = isJsonObject(item) ? item[method.toLowerCase()] : undefined
  return isJsonObject(operation) ? operation : undefined
}

/** True where an OpenAPI document has the operation. */
export function publishes(document: JsonObject | null, operation: Operation): boolean {
  return publishedOperation(document, operation) !== undefined
}

/**
 * Whether a platform takes an operation, found out without doing it: what its OpenAPI document says, else what it allows
 * at that address (OPTIONS, RFC 9110 §9.3.7). Null where neither tells.
 *
 * @param document as `publishedApi` gives it
 */
export async function isOffered(
  caller: Caller,
  document: JsonObject | null,
  operation: Operation,
  params: PathParameters,
  signal: AbortSignal,
): Promise<boolean | null> {
  if (document) return publishes(document, operation)
  if (operation.published) return true
  try {
    const reply = await caller.send({ method: 'OPTIONS', path: encodePath(operation.path, params), signal })
    await leave(reply)
    const allowed = reply.headers['allow']?.split(',').map((method) => method.trim().toUpperCase())
    return allowed?.includes(operation.method) ?? null
  } catch (error) {
    const refused = error instanceof ApiError && !troubles.includes(error.status)
    if (refused || error instanceof ProtocolError) return null
    throw error
  }
}

function unnamed(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}').replace(/\/$/, '')
}

/** What is said before operations are tried of which a platform tells nothing. */
export function untold(platform: string, operations: readonly string[]): string {
  return `${platform} does not say whether it supports ${operations.join(', ')}; without that, some changes will fail`
}
