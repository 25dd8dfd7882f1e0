import { isJsonObject, type JsonObject, parseJson } from '../../codec/json-text.ts'

/** Id of a request: unlike in JSON-RPC 2.0, never null (MCP 2025-11-25, basic/index.mdx § Requests). */
export type RequestId = string | number

const rpcErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const

export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number

  constructor(kind: keyof typeof rpcErrors, message: string) {
    super(message)
    this.code = rpcErrors[kind]
  }
}

export type Message =
  | {
      readonly kind: 'request'
      readonly id: RequestId
      readonly method: string
      readonly params: JsonObject
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  /** A response to a question; its result is undefined after an error. */
  | { readonly kind: 'response'; readonly id: unknown; readonly result: unknown }
  /** A message that is none; its id is undefined if it has no usable one. */
  | { readonly kind: 'invalid'; readonly id: RequestId | undefined; readonly error: RpcError }

export function readMessage(line: string): Message {
  let value: unknown
  try {
    value = parseJson(line)
  } catch {
    return invalid(undefined, 'parse', 'The line is not JSON')
  }
  if (Array.isArray(value)) {
    return invalid(undefined, 'invalidRequest', 'Batches are not supported: send one message per line')
  }
  if (!isJsonObject(value)) return invalid(undefined, 'invalidRequest', 'A message must be an object')
  const { jsonrpc, id, method, params = {} } = value
  const known = isRequestId(id) ? id : undefined
  if (jsonrpc !== '2.0') return invalid(known, 'invalidRequest', 'jsonrpc must be "2.0"')
  if (method === undefined && ('result' in value || 'error' in value))
    return { kind: 'response', id, result: value['result'] }
  if (typeof method !== 'string') return invalid(known, 'invalidRequest', 'method must be a text')
  if ('id' in value && known === undefined) {
    return invalid(undefined, 'invalidRequest', 'id must be a text or an integer')
  }
  if (!isJsonObject(params)) {
    // A notification gets no response, whatever its parameters.
    if (known === undefined) return { kind: 'notification', method, params: {} }
    return invalid(known, 'invalidParams', 'params must be an object')
  }
  return known === undefined
    ? { kind: 'notification', method, params }
    : { kind: 'request', id: known, method, params }
}

function invalid(id: RequestId | undefined, kind: keyof typeof rpcErrors, message: string): Message {
  return { kind: 'invalid', id, error: new RpcError(kind, message) }
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
}

export function resultMessage(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

/** Returns the response with an error; without an id if the request has no usable one. */
export function errorMessage(id: RequestId | undefined, { code, message }: RpcError): JsonObject {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } }
}
