import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { calls } from '../contract/calls.ts'
import type { Operation } from '../contract/operation.ts'
import type { PathParameters } from './call.ts'
import type { Caller } from './caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from './errors.ts'
import { discardBody } from './reply.ts'
import { encodePath } from './request.ts'

/** Statuses that do not show whether a document exists: no credential, or a platform in trouble. */
const troubles = [401, 429, 502, 503, 504]

/** Fetches the OpenAPI document of a platform; null if it has none. */
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

/** Returns an operation of an OpenAPI document; undefined if missing. Parameter names in the path may differ. */
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

/** True if an OpenAPI document has the operation. */
export function publishes(document: JsonObject | null, operation: Operation): boolean {
  return publishedOperation(document, operation) !== undefined
}

/**
 * Returns whether a platform supports an operation, without calling it: by its OpenAPI document, else by the methods
 * that it allows at the path (OPTIONS, RFC 9110 §9.3.7). Null if neither shows it.
 *
 * @param document from `publishedApi`
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
    await discardBody(reply)
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

/** Returns the names of an operation's parameters that are lists, according to the platform's OpenAPI document. */
export function listParameters(document: JsonObject | null, operation: Operation): unknown[] {
  const parameters = publishedOperation(document, operation)?.['parameters']
  const objects = Array.isArray(parameters) ? parameters.filter(isJsonObject) : []
  return objects
    .filter(({ schema }) => isJsonObject(schema) && schema['type'] === 'array')
    .map(({ name }) => name)
}
