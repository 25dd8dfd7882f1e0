import { type Readable, Writable } from 'node:stream'
import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import { version } from '../../contract/version.ts'
import { ReaderGoneError } from '../terminal/errors.ts'
import { type Io, ignoreStreamErrors, streamOf, write } from '../terminal/io.ts'

export interface Toolbox {
  readonly instructions: string
  readonly tools: readonly JsonObject[]
  call(name: string, input: JsonObject, parts: CallParts): Promise<JsonObject>
}

export interface CallParts {
  readonly signal: AbortSignal
  /** Null if the client cannot ask its user. */
  readonly ask: ((question: string) => Promise<boolean>) | null
}

/** Time for calls in progress after the end of the input. */
const drainMs = 10_000

/**
 * Answers the messages of one client, one in each line of standard input (MCP 2025-11-25, basic/transports.mdx § stdio), until its
 * end. Clients of later revisions begin with `server/discover`, and with the handshake of this one after its refusal. Throws the
 * reason of an interruption.
 */
export async function serveMessages(io: Io, toolbox: Toolbox): Promise<void> {
  const server = new MessageServer(io, toolbox)
  try {
    await server.run()
  } catch (error) {
    // A client that is gone reads no answers.
    if (!(error instanceof ReaderGoneError)) throw error
  } finally {
    server.cancelAll()
  }
}

interface Call {
  readonly controller: AbortController
  readonly done: Promise<void>
}

class MessageServer {
  readonly #io: Io
  readonly #toolbox: Toolbox
  readonly #calls = new Map<RequestId, Call>()
  /** Takes the answers to questions, by the id of the request. */
  readonly #questions = new Map<unknown, (result: unknown) => void>()
  #questionCount = 0
  #canAsk = false

  constructor(io: Io, toolbox: Toolbox) {
    this.#io = io
    this.#toolbox = toolbox
  }

  async run(): Promise<void> {
    const { addAbortSignal } = await import('node:stream')
    const { signal, stdin } = this.#io
    try {
      for await (const line of linesOf(addAbortSignal(signal, stdin))) await this.#take(line)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
    const running = [...this.#calls.values()].map(({ done }) => done)
    if (running.length === 0) return
    const timeout = AbortSignal.timeout(drainMs)
    await Promise.race([Promise.all(running), aborted(AbortSignal.any([timeout, signal]))])
    signal.throwIfAborted()
  }

  cancelAll(): void {
    for (const { controller } of this.#calls.values()) controller.abort()
  }

  async #take(line: string): Promise<void> {
    if (line.trim() === '') return
    const message = readMessage(line)
    if (message.kind === 'invalid') return this.#send(errorMessage(message.id, message.error))
    if (message.kind === 'request') return this.#answer(message)
    if (message.kind === 'response') return this.#questions.get(message.id)?.(message.result)
    if (message.method === 'notifications/cancelled') this.#cancel(message.params['requestId'])
  }

  /** Cancels a call, which then gets no response. An unknown id is ignored: the call may have ended meanwhile. */
  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#calls.get(id)?.controller.abort()
  }

  async #answer({ id, method, params }: Extract<Message, { kind: 'request' }>): Promise<void> {
    try {
      if (method === 'tools/call') return this.#call(id, params)
      await this.#send(resultMessage(id, this.#resultOf(method, params)))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      await this.#send(errorMessage(id, error))
    }
  }

  #resultOf(method: string, { capabilities }: JsonObject): JsonObject {
    switch (method) {
      case 'initialize':
        this.#canAsk = canElicit(capabilities)
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'learnctl', title: 'learnctl', version },
          instructions: this.#toolbox.instructions,
        }
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: this.#toolbox.tools }
      default:
        throw new RpcError('methodNotFound', `Unknown method: ${method.slice(0, 100)}`)
    }
  }

  /** Begins a call; its response follows when it has ended, so that others can be answered and cancelled meanwhile. */
  #call(id: RequestId, { name, arguments: input = {} }: JsonObject): void {
    if (typeof name !== 'string') throw new RpcError('invalidParams', 'name must be a text')
    if (!isJsonObject(input)) throw new RpcError('invalidParams', 'arguments must be an object')
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, this.#io.signal])
    const ask = this.#canAsk ? (question: string) => this.#ask(question, signal) : null
    const done = this.#toolbox
      .call(name, input, { signal, ask })
      .then(
        (result) => resultMessage(id, result),
        (error: unknown) => errorMessage(id, error instanceof RpcError ? error : internalError),
      )
      .then((response) => (controller.signal.aborted ? undefined : this.#send(response)))
      // The reader has gone: the end of the input follows.
      .catch(() => {})
      .finally(() => this.#calls.delete(id))
    this.#calls.set(id, { controller, done })
  }

  async #ask(question: string, signal: AbortSignal): Promise<boolean> {
    this.#questionCount += 1
    const id = `question-${this.#questionCount}`
    const params = {
      mode: 'form',
      message: question,
      requestedSchema: { type: 'object', properties: {} },
    }
    try {
      const answer = new Promise<unknown>((resolve) => this.#questions.set(id, resolve))
      await this.#send({ jsonrpc: '2.0', id, method: 'elicitation/create', params })
      await Promise.race([answer, aborted(signal)])
      signal.throwIfAborted()
      const result = await answer
      return isJsonObject(result) && result['action'] === 'accept'
    } finally {
      this.#questions.delete(id)
    }
  }

  #send(message: JsonObject): Promise<void> {
    return write(this.#io.stdout, `${jsonText(message)}\n`)
  }
}

/** MCP 2025-11-25, client/elicitation.mdx § Capabilities. */
function canElicit(capabilities: unknown): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : null
  // Without a mode, a client can show forms.
  return isJsonObject(elicitation) && ('form' in elicitation || !('url' in elicitation))
}

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * Keeps standard output for protocol messages: whatever else in this process writes to it, such as a warning of a
 * library, goes to standard error. Call `end` at last.
 */
export function guardOutput(io: Io): { readonly io: Io; end(): void } {
  const stdout = streamOf(io.stdout)
  if (stdout !== process.stdout) return { io, end: () => {} }
  ignoreStreamErrors(stdout)
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const messages = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _, done) {
      write(chunk, done)
    },
  })
  return {
    io: { ...io, stdout: messages },
    end: () => {
      process.stdout.write = write
    },
  }
}

/** Id of a request: unlike in JSON-RPC 2.0, never null (MCP 2025-11-25, basic/index.mdx § Requests). */
type RequestId = string | number

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

/** Hides an unexpected error, whose message may have anything in it. */
const internalError = new RpcError('internal', 'Internal error')

type Message =
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

function readMessage(line: string): Message {
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

function resultMessage(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

/** Returns the response with an error; without an id if the request has no usable one. */
function errorMessage(id: RequestId | undefined, { code, message }: RpcError): JsonObject {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } }
}
