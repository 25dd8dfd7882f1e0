import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { version } from '../../contract/version.ts'
import { canElicit } from './elicitation.ts'
import { RpcError } from './json-rpc.ts'

/**
 * Revisions of the Model Context Protocol, the latest first. The first is stateless: each request says its version. The
 * second begins with a handshake. Both: modelcontextprotocol/modelcontextprotocol@b0f60ba, schema/<revision>/schema.ts and
 * docs/specification/<revision>/basic.
 */
export const revisions = ['2026-07-28', '2025-11-25'] as const
export type Revision = (typeof revisions)[number]

const [stateless, withHandshake] = revisions

const serverInfo = { name: 'learnctl', title: 'learnctl', version }
const capabilities = { tools: {} }

/** Milliseconds for which clients may cache the tools: they depend on the flags of this process alone. */
const cachedMs = 60 * 60 * 1000

/** Chooses the revision of each request, and gives results its form. */
export class Revisions {
  readonly #instructions: string
  #isInitialized = false
  #canAsk = false

  constructor(instructions: string) {
    this.#instructions = instructions
  }

  /** Returns the revision of a request. Throws an RpcError for another one, and for a request without the required fields. */
  of(method: string, params: JsonObject): Revision {
    const meta = isJsonObject(params['_meta']) ? params['_meta'] : {}
    const asked = meta['io.modelcontextprotocol/protocolVersion']
    if (asked === undefined) {
      if (this.#isInitialized || method === 'initialize' || method === 'ping') return withHandshake
      throw new RpcError(
        'invalidParams',
        `Send initialize first (${withHandshake}), or the version with each request (${stateless}): params._meta["io.modelcontextprotocol/protocolVersion"]`,
      )
    }
    if (asked !== stateless) {
      throw new RpcError('unsupportedVersion', 'Unsupported protocol version', {
        supported: revisions,
        requested: typeof asked === 'string' ? asked.slice(0, 40) : null,
      })
    }
    if (!isJsonObject(meta['io.modelcontextprotocol/clientCapabilities'])) {
      throw new RpcError(
        'invalidParams',
        'params._meta["io.modelcontextprotocol/clientCapabilities"] is required',
      )
    }
    return stateless
  }

  canAsk(revision: Revision, params: JsonObject): boolean {
    if (revision === withHandshake) return this.#canAsk
    const meta = isJsonObject(params['_meta']) ? params['_meta'] : {}
    return canElicit(meta['io.modelcontextprotocol/clientCapabilities'])
  }

  /** True if requests to the client are results of its own requests. */
  isStateless(revision: Revision): boolean {
    return revision === stateless
  }

  /** Answers the handshake of the earlier revision, also for a client that asks for another one. */
  initialize({ capabilities: offered }: JsonObject): JsonObject {
    this.#isInitialized = true
    this.#canAsk = canElicit(offered)
    return { protocolVersion: withHandshake, capabilities, serverInfo, instructions: this.#instructions }
  }

  discover(): JsonObject {
    return {
      supportedVersions: revisions,
      capabilities,
      instructions: this.#instructions,
      ...this.cacheable(stateless),
    }
  }

  cacheable(revision: Revision): JsonObject {
    return revision === stateless ? { ttlMs: cachedMs, cacheScope: 'private' } : {}
  }

  formed(revision: Revision, result: JsonObject): JsonObject {
    if (revision !== stateless) return result
    return {
      resultType: 'complete',
      ...result,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: serverInfo.name, version } },
    }
  }
}
