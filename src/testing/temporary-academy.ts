import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { loadExamples, readExampleData } from '../cli/local-server/example-data.ts'
import {
  findSeeds,
  makeRunDirectory,
  removeDeadRuns,
  type Seed,
  seedCommandLine,
} from '../cli/local-server/exec-run.ts'
import { listenError } from '../cli/local-server/serve-options.ts'
import { main } from '../cli/main.ts'
import { transports } from '../cli/session/session.ts'
import { CommandError } from '../cli/terminal/errors.ts'
import type { Io } from '../cli/terminal/io.ts'
import { createCaller } from '../client/caller.ts'
import type { Transport } from '../contract/http.ts'
import { copyForTests } from '../server/academy/copy-for-tests.ts'
import { type OpenAcademy, openAcademy } from '../server/academy/local-academy.ts'
import { forgetSubscribers, type OnEvents } from '../server/changes/event-queue.ts'
import { type IdMaker, type IdPrefix, seededIdMaker } from '../server/database/id.ts'
import { backUp, overwrite } from '../server/database/sqlite/backup.ts'
import { type RunningServer, serve } from '../server/socket/serve.ts'

export interface TemporaryOptions {
  /** Seeds as `server exec --seed` takes them. */
  readonly seeds: readonly string[]
  /** Database file to begin with. */
  readonly snapshot?: string | undefined
  /** ISO 8601, UTC. */
  readonly fixedTime?: string | undefined
  readonly seedId?: number | undefined
  /** Port of the loopback, 0 for any free one; null for an academy in this process, without a port. */
  readonly port: number | null
  readonly onEvents: OnEvents
}

/** An academy in a temporary directory, which is removed when it is closed or its process exits. */
export interface TemporaryAcademy {
  /** Answers requests in this process; undefined if the academy has a port. */
  readonly transport: Transport | undefined
  /** Address; undefined without a port, like the key. */
  readonly url: string | undefined
  readonly apiKey: string | undefined
  /** Saves the state that `reset` returns to. */
  save(): Promise<void>
  reset(): Promise<void>
  close(): Promise<void>
}

const host = '127.0.0.1'

/** Creates an academy and seeds it. Throws an Error whose message says what failed, why, and what to do. */
export async function createTemporaryAcademy(options: TemporaryOptions): Promise<TemporaryAcademy> {
  const { path: directory } = await makeRunDirectory()
  directories.add(directory)
  const academy = new Temporary(directory, options)
  try {
    await academy.open()
    await removeDeadRuns()
    return academy
  } catch (error) {
    await academy.close()
    throw readableError(error, options)
  }
}

/** Directories that this process has to remove. */
const directories = new Set<string>()
process.once('exit', () => {
  for (const path of directories) rmSync(path, { recursive: true, force: true })
})

class Temporary implements TemporaryAcademy {
  readonly #directory: string
  readonly #options: TemporaryOptions
  readonly #path: string
  #local: OpenAcademy | undefined
  #server: RunningServer | undefined
  /** Ids made so far, by kind, with `seedId`. */
  #counts: ReadonlyMap<IdPrefix, number> = new Map()
  #savedCounts: ReadonlyMap<IdPrefix, number> = new Map()
  #makeId: IdMaker

  constructor(directory: string, options: TemporaryOptions) {
    this.#directory = directory
    this.#options = options
    this.#path = join(directory, 'academy.db')
    this.#makeId = this.#idMaker(new Map())
  }

  async open(): Promise<void> {
    const { seeds, snapshot } = this.#options
    const found = await findSeeds({ cwd: process.cwd() }, seeds)
    if (snapshot !== undefined) {
      await copyForTests({ from: snapshot, to: this.#path, now: this.#now })
    }
    if (found.length > 0) await this.#plant(found)
    await this.#start()
  }

  get transport(): Transport | undefined {
    return this.#options.port === null ? (request) => this.#openLocal().transport(request) : undefined
  }

  get url(): string | undefined {
    return this.#server?.url
  }

  get apiKey(): string | undefined {
    return this.#server?.firstKey
  }

  async save(): Promise<void> {
    this.#savedCounts = new Map(this.#counts)
    await backUp(this.#path, this.#saved)
  }

  async reset(): Promise<void> {
    await overwrite(this.#path, this.#saved)
    forgetSubscribers()
    this.#makeId = this.#idMaker(new Map(this.#savedCounts))
  }

  async close(): Promise<void> {
    try {
      await this.#stop()
    } finally {
      rmSync(this.#directory, { recursive: true, force: true, maxRetries: 3 })
      directories.delete(this.#directory)
    }
  }

  get #saved(): string {
    return join(this.#directory, 'saved.db')
  }

  readonly #now = () => {
    const { fixedTime } = this.#options
    return fixedTime === undefined ? new Date() : new Date(fixedTime)
  }

  #openLocal(): OpenAcademy {
    if (this.#local) return this.#local
    throw new Error('The academy is closed')
  }

  async #start(): Promise<void> {
    const { port, onEvents, fixedTime } = this.#options
    if (port === null) {
      this.#local = await this.#openFile(onEvents)
      return
    }
    this.#server = await serve({
      ...{ path: this.#path, host, port, allowHosts: [], publicUrl: undefined, corsOrigins: [] },
      ...{ perMinute: 0, env: process.env, temporary: true, writeLog: () => {}, onEvents, fixedTime },
      adminKey: true,
      ids: this.#ids,
    })
  }

  async #stop(): Promise<void> {
    await this.#local?.close()
    await this.#server?.stop()
    this.#local = undefined
    this.#server = undefined
  }

  #openFile(onEvents?: OnEvents): Promise<OpenAcademy> {
    return openAcademy({
      ...{ path: this.#path, now: this.#now, ids: this.#ids, temporary: true, env: process.env, onEvents },
    })
  }

  /** Generates the ids of the academy; undefined without `seedId`. */
  get #ids(): IdMaker | undefined {
    return this.#options.seedId === undefined ? undefined : (prefix) => this.#makeId(prefix)
  }

  #idMaker(counts: Map<IdPrefix, number>): IdMaker {
    this.#counts = counts
    return seededIdMaker(this.#options.seedId ?? 0, this.#now, counts)
  }

  /** Seeds the academy by the commands that import files. */
  async #plant(seeds: readonly Seed[]): Promise<void> {
    const academy = await this.#openFile()
    try {
      for (const seed of seeds) {
        if (seed.kind === 'examples') {
          const caller = createCaller({
            ...{ baseUrl: 'http://localhost', transport: academy.transport, attempts: 1, ours: true },
          })
          await loadExamples(caller, await readExampleData())
        } else await this.#runLine(seedCommandLine(seed), seed.file, academy)
      }
    } finally {
      await academy.close()
    }
  }

  async #runLine(words: readonly string[], file: string, academy: OpenAcademy): Promise<void> {
    const printed: string[] = []
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        printed.push(String(chunk))
        done()
      },
    })
    const io: Io = {
      stdin: Readable.from([]),
      stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
      stderr,
      env: { LEARNCTL_STATE_DIR: join(this.#directory, 'state') },
      home: this.#directory,
      cwd: process.cwd(),
      platform: process.platform,
      now: () => this.#now().getTime(),
      sleep: async () => {},
      random: Math.random,
      openBrowser: async () => {},
      signal: new AbortController().signal,
    }
    const line = [...words, '--database', this.#path, '--yes', '--no-input']
    const local = async () => ({ ...academy, close: async () => {} })
    const code = await main(line, io, { ...transports, local })
    if (code === 0) return
    const text = printed.join('').trimEnd()
    throw new CommandError('seed_incomplete', 'failure', `Cannot seed the academy with ${file}`, {
      why: text.split('\n'),
    })
  }
}

/** Converts an error of the program to one whose message has the reason and the hint, in the words of the options. */
function readableError(error: unknown, { port }: TemporaryOptions): unknown {
  const known = listenError(error, { host, port: port ?? 0 })
  if (!(known instanceof CommandError)) return error
  const { code, message, why, hint: shown } = known
  const hint = code === 'port_in_use' ? 'Leave out port for any free one' : shown
  const lines = [
    message,
    ...why.map((line) => `  ${line}`),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
  ]
  return new Error(lines.join('\n').replaceAll('--seed ', 'seed '), { cause: error })
}
