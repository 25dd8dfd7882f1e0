import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import autocannon, { type Client } from 'autocannon'
import { listen } from '../helpers/listen.ts'

/** A line of the result: a figure, its goal, and the measurements behind it. */
export interface BenchRow {
  readonly figure: string
  readonly value: number
  /** Unit; `ratio` compares with the yardstick. */
  readonly unit: 'ratio' | 'MiB' | 'MB' | 'ms' | 's' | 'rows/s'
  readonly goal: number
  /** Whether higher or lower is better. */
  readonly better: 'more' | 'less'
  readonly from: string
}

/** Goals of a figure: one that may be higher, and one that may be lower. */
export const atLeast = (goal: number, unit: BenchRow['unit'] = 'ratio') =>
  ({ unit, goal, better: 'more' }) as const
export const atMost = (goal: number, unit: BenchRow['unit'] = 'ratio') =>
  ({ unit, goal, better: 'less' }) as const

/** Returns the median. */
export const median = (values: readonly number[]) => percentile(values, 0.5)

/** Returns the quantile at `part`, from 0 to 1. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Runs a program to its end with its output discarded, read or written to a file; returns the wall time in milliseconds. */
export async function measureMs(
  command: string,
  args: readonly string[],
  given: { env?: NodeJS.ProcessEnv; cwd?: string; stdout?: 'ignore' | 'pipe' | number } = {},
): Promise<number> {
  const { env = {}, cwd, stdout = 'ignore' } = given
  const startedMs = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', stdout, 'pipe'],
    cwd,
    env: { ...process.env, ...env },
  })
  child.stdout?.resume()
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    complaint += piece
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${complaint}`)
  return performance.now() - startedMs
}

/** What a command line took; the peak memory is NaN if the system does not report it. */
export interface Watched {
  readonly ms: number
  readonly peak: number
  /** Standard output. */
  readonly printed: string
}

/** Runs a command line of learnctl, which must end with the expected code, and watches its memory. */
export async function watchLearnctl(
  bin: string,
  words: readonly string[],
  { env = {}, expected = 0 }: { env?: NodeJS.ProcessEnv; expected?: number } = {},
): Promise<Watched> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [bin, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    printed += piece
  })
  let peak = Number.NaN
  const watch = setInterval(() => {
    peak = peakMiB(child.pid ?? 0) ?? peak
  }, 20)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watch)
  if (code !== expected) throw new Error(`learnctl ${words.join(' ')} ended with ${code}`)
  return { ms: performance.now() - startedMs, peak, printed }
}

/** Measures alternately, after a first round that warms up. */
export async function compareInTurn(
  rounds: number,
  mine: (round: number) => Promise<number>,
  theirs: (round: number) => Promise<number>,
) {
  const pairs: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [await mine(round), await theirs(round)]
    if (round > 0) pairs.push(pair)
  }
  return comparePairs(pairs)
}

/** Returns the medians of two measurements, and of their ratio. */
export function comparePairs(pairs: readonly (readonly [number, number])[]) {
  return {
    mine: median(pairs.map(([one]) => one)),
    theirs: median(pairs.map(([, other]) => other)),
    ratio: median(pairs.map(([one, other]) => one / other)),
  }
}

/** A server process and its address, the first line that it printed. */
export interface Served {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** Starts a program that prints its address and serves until SIGTERM. */
export async function startServer(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const ended = once(child, 'close')
  return {
    pid: child.pid ?? 0,
    url: line.toString().split('\n', 1)[0] ?? '',
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Starts a server of an academy; by default it counts requests up to a limit that is never reached. */
export function serveAcademy(
  bin: string,
  database: string,
  directory: string,
  limit = '600000000',
): Promise<Served> {
  const words = ['server', 'start', '--database', database, '--port', '0', '--rate-limit', limit]
  return startServer([bin, ...words], { XDG_STATE_HOME: directory })
}

/** Returns the peak memory of a process in MiB; null if the system does not report it. */
export function peakMiB(pid: number): number | null {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Math.round(Number(kilobytes) / 1024) : null
  } catch {
    return null
  }
}

/** A path and the body to send to it. */
export interface Sent {
  readonly path: string
  readonly body?: string
  /** Headers of this request instead of those of the load. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests to send repeatedly. */
export interface Load {
  /** URL of the server, without a path. */
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  /** Requests, sent in turn. */
  readonly requests: readonly Sent[]
  readonly connections: number
  readonly seconds: number
}

/**
 * Sends a load by autocannon and returns the successful requests a second. Throws if one was refused or failed. The load
 * takes as much of the processors as a server does, so ratios are nearer to 1 than from another machine.
 */
export async function perSecond({ seconds, requests, ...load }: Load): Promise<number> {
  const each = requests.map(({ path, body = '', headers }) => ({
    ...{ method: load.method, path, body },
    ...(headers && { headers }),
  }))
  let clients = 0
  // Each connection would start with the first request, but a create succeeds only once.
  const setupClient = (client: Client) => {
    const place = clients++ % load.connections
    const own = each.filter((_, index) => index % load.connections === place)
    if (own.length > 0) client.setRequests(own)
  }
  const sent = await autocannon({ ...load, duration: seconds, requests: each, setupClient })
  if (sent.non2xx > 0 || sent.errors > 0) throw new Error(`${sent.non2xx} refusals, ${sent.errors} errors`)
  return sent.requests.total / sent.duration
}

/**
 * Starts a receiver that accepts everything and measures the rate. `read` counts the events in a body, and answers it (by
 * default one, without a response).
 */
export async function startReceiver(
  read: (body: string) => { count: number; reply?: string } = () => ({ count: 1 }),
) {
  let got = 0
  let last = ''
  let onEvents = () => {}
  const server = createServer(async (incoming, response) => {
    last = await text(incoming)
    const { count, reply } = read(last)
    got += count
    if (reply === undefined) response.writeHead(204).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
    onEvents()
  })
  const { url, close } = await listen(server)
  return {
    url: `${url}/`,
    count: () => got,
    last: () => last,
    /** Returns the rate from the first events that arrive from now on to the last of `count`. */
    rate: (count: number) =>
      new Promise<number>((resolve) => {
        const from = got
        let [first, beganMs] = [0, 0]
        onEvents = () => {
          if (first === 0) [first, beganMs] = [got - from, performance.now()]
          if (got - from >= count) resolve((got - from - first) / ((performance.now() - beganMs) / 1000))
        }
      }),
    close,
  }
}

/** Returns the 99th percentile of small requests, one every 20 ms, while `work` runs, and their number. */
export async function meanwhile(
  url: string,
  key: string,
  work: () => Promise<unknown>,
): Promise<[p99: number, count: number]> {
  let busy = true
  const done = work().finally(() => {
    busy = false
  })
  const times: number[] = []
  while (busy) {
    const startedMs = performance.now()
    const reply = await fetch(`${url}/v1/courses`, { headers: { authorization: `Bearer ${key}` } })
    await reply.text()
    times.push(performance.now() - startedMs)
    await setTimeout(20)
  }
  await done
  return [percentile(times, 0.99), times.length]
}

/** Measures work several times; returns the median of its milliseconds. */
export async function medianMs(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now()
    await work()
    times.push(performance.now() - startedMs)
  }
  return median(times)
}
