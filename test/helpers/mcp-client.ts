import { PassThrough, Writable } from 'node:stream'
import { InterruptedError } from '../../src/cli/terminal/errors.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import type { JsonObject } from '../../src/codec/json-text.ts'
import { isJsonObject } from '../../src/codec/json-text.ts'
import type { TestCli } from './cli.ts'

/** A tool's result, as text and data. */
export interface Called {
  readonly text: string
  readonly data: JsonObject
  readonly isError: boolean
}

/** `learnctl mcp` in this process, with its two streams. */
export class McpProcess {
  readonly stdin = new PassThrough()
  /** Receives each line that it writes. */
  onLine: (line: string) => void = () => {}
  /** Everything that it has written. */
  readonly lines: string[] = []
  readonly exit: Promise<number>
  readonly #stop = new AbortController()
  readonly #waiting = new Map<unknown, (message: JsonObject) => void>()
  #rest = ''
  #id = 0

  constructor(cli: TestCli, flags: readonly string[], io: Partial<Io> = {}) {
    const stdout = new Writable({
      write: (chunk: Buffer, _, done) => {
        this.#take(chunk.toString('utf8'))
        done()
      },
    })
    this.exit = cli.start(['mcp', ...flags], { ...io, stdin: this.stdin, stdout, signal: this.#stop.signal })
  }

  #take(text: string): void {
    const [last = '', ...lines] = (this.#rest + text).split('\n').toReversed()
    this.#rest = last
    for (const line of lines.toReversed()) {
      this.lines.push(line)
      this.onLine(line)
      const message: unknown = JSON.parse(line)
      if (isJsonObject(message)) this.#waiting.get(message['id'])?.(message)
    }
  }

  /** Sends a line as it is. */
  write(line: string): void {
    this.stdin.write(`${line}\n`)
  }

  /** Sends a request and returns its response; undefined as id takes the next number. */
  request(method: string, params: JsonObject = {}, given?: unknown): Promise<JsonObject> {
    this.#id += 1
    const id = given ?? this.#id
    const response = new Promise<JsonObject>((resolve) => this.#waiting.set(id, resolve))
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return response
  }

  /** Calls a tool. */
  async call(name: string, input: JsonObject): Promise<Called> {
    const { result, error } = await this.request('tools/call', { name, arguments: input })
    if (!isJsonObject(result)) throw new Error(JSON.stringify(error))
    const [content] = result['content'] as { text: string }[]
    return {
      text: content?.text ?? '',
      data: (result['structuredContent'] ?? {}) as JsonObject,
      isError: result['isError'] === true,
    }
  }

  /** Calls `run` with words. */
  run(argv: readonly string[], confirm?: unknown): Promise<Called> {
    return this.call('run', { argv, ...(confirm !== undefined && { confirm }) })
  }

  terminate(): void {
    this.#stop.abort(new InterruptedError('SIGTERM'))
  }

  /** Ends the input and returns the exit code. */
  end(): Promise<number> {
    this.stdin.end()
    return this.exit
  }
}
