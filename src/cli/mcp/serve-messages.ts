import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { ReaderGoneError } from '../terminal/errors.ts'
import { type Io, write } from '../terminal/io.ts'
import { type Ask, type CallParts, elicitation, InputRequired, isAccepted } from './elicitation.ts'
import {
  errorMessage,
  type Message,
  type RequestId,
  RpcError,
  readMessage,
  resultMessage,
} from './json-rpc.ts'
import { maxLineBytes, readLines } from './message-streams.ts'
import { type Revision, Revisions } from './revisions.ts'

export interface Toolbox {
  readonly instructions: string
  readonly tools: readonly JsonObject[]
  /** Calls a tool. Throws an RpcError for an unknown one. */
  call(name: string, input: JsonObject, parts: CallParts): Promise<JsonObject>
}

/** Maximum calls at once, also of those that wait for another one. */
const maxCalls = 16
/** Time for calls in progress after the end of the input. */
const drainMs = 10_000

/**
 * Answers the messages of one client, one in each line of standard input (MCP 2026-07-28, basic/transports/stdio.mdx),
 * until its end. Throws the reason of an interruption.
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
  readonly #revisions: Revisions
  readonly #calls = new Map<RequestId, Call>()
  /** Takes the answers to questions, by the id of the request. */
  readonly #questions = new Map<unknown, (result: unknown) => void>()
  #questionCount = 0

  constructor(io: Io, toolbox: Toolbox) {
    this.#io = io
    this.#toolbox = toolbox
    this.#revisions = new Revisions(toolbox.instructions)
  }

  async run(): Promise<void> {
    const { addAbortSignal } = await import('node:stream')
    const { signal, stdin } = this.#io
    try {
      for await (const line of readLines(addAbortSignal(signal, stdin))) await this.#take(line)
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

  async #take(line: string | null): Promise<void> {
    if (line === null) {
      const reason = `A message must be UTF-8 of at most ${maxLineBytes} bytes`
      return this.#send(errorMessage(undefined, new RpcError('parse', reason)))
    }
    if (line.trim() === '') return
    const message = readMessage(line)
    if (message.kind === 'invalid') return this.#send(errorMessage(message.id, message.error))
    if (message.kind === 'request') return this.#answer(message)
    if (message.kind === 'response') return this.#questions.get(message.id)?.(message.result)
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') this.#cancel(message)
  }

  /** Cancels a call, which then gets no response. An unknown id is ignored: the call may have ended meanwhile. */
  #cancel({ params }: { readonly params: JsonObject }): void {
    const id = params['requestId']
    if (typeof id !== 'string' && typeof id !== 'number') return
    this.#calls.get(id)?.controller.abort()
  }

  async #answer(request: Extract<Message, { kind: 'request' }>): Promise<void> {
    const { id, method, params } = request
    try {
      if (this.#calls.has(id)) throw new RpcError('invalidRequest', 'This id is in use')
      const revision = this.#revisions.of(method, params)
      if (method === 'tools/call') return this.#call(id, revision, params)
      const result = this.#resultOf(method, revision, params)
      await this.#send(resultMessage(id, this.#revisions.formed(revision, result)))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      await this.#send(errorMessage(id, error))
    }
  }

  #resultOf(method: string, revision: Revision, params: JsonObject): JsonObject {
    switch (method) {
      case 'initialize':
        return this.#revisions.initialize(params)
      case 'server/discover':
        return this.#revisions.discover()
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: this.#toolbox.tools, ...this.#revisions.cacheable(revision) }
      default:
        throw new RpcError('methodNotFound', `Unknown method: ${method.slice(0, 100)}`)
    }
  }

  /** Begins a call; its response follows when it has ended, so that others can be answered and cancelled meanwhile. */
  #call(id: RequestId, revision: Revision, params: JsonObject): void {
    const { name, arguments: input = {} } = params
    if (typeof name !== 'string') throw new RpcError('invalidParams', 'name must be a text')
    if (!isJsonObject(input)) throw new RpcError('invalidParams', 'arguments must be an object')
    if (this.#calls.size >= maxCalls) {
      throw new RpcError('internal', `More than ${maxCalls} calls at once; wait for one of them`)
    }
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, this.#io.signal])
    const ended = this.#toolbox
      .call(name, input, { signal, ask: this.#askFor(revision, params, signal) })
      .then(
        (result) => resultMessage(id, this.#revisions.formed(revision, result)),
        (error: unknown) => {
          if (!(error instanceof InputRequired))
            return errorMessage(id, error instanceof RpcError ? error : internalError)
          const asked = { confirm: { method: 'elicitation/create', params: elicitation(error.message) } }
          const result = { resultType: 'input_required', inputRequests: asked }
          return resultMessage(id, this.#revisions.formed(revision, result))
        },
      )
    const done = ended
      .then((response) => (controller.signal.aborted ? undefined : this.#send(response)))
      // The reader has gone: the end of the input follows.
      .catch(() => {})
      .finally(() => this.#calls.delete(id))
    this.#calls.set(id, { controller, done })
  }

  /** Returns how a call asks the user; null if the client cannot. */
  #askFor(revision: Revision, params: JsonObject, signal: AbortSignal): Ask | null {
    if (!this.#revisions.canAsk(revision, params)) return null
    if (!this.#revisions.isStateless(revision)) return (question) => this.#ask(question, signal)
    const answers = params['inputResponses']
    return async (question) => {
      if (!isJsonObject(answers) || answers['confirm'] === undefined) throw new InputRequired(question)
      return isAccepted(answers['confirm'])
    }
  }

  /** Sends a question to the client, and waits for the user's answer. */
  async #ask(question: string, signal: AbortSignal): Promise<boolean> {
    this.#questionCount += 1
    const id = `question-${this.#questionCount}`
    try {
      const answer = new Promise<unknown>((resolve) => this.#questions.set(id, resolve))
      await this.#send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: elicitation(question) })
      await Promise.race([answer, aborted(signal)])
      signal.throwIfAborted()
      return isAccepted(await answer)
    } finally {
      this.#questions.delete(id)
    }
  }

  #send(message: JsonObject): Promise<void> {
    return write(this.#io.stdout, `${jsonText(message)}\n`)
  }
}

/** Hides an unexpected error, whose message may have anything in it. */
const internalError = new RpcError('internal', 'Internal error')

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
