import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Returns the quantile at `part`, from 0 to 1. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

interface MeasureOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly stdout?: 'ignore' | 'pipe' | number
}

/** Runs a program to its end with its output discarded, read or written to a file; returns the wall time in milliseconds. */
export async function measureMs(
  command: string,
  args: readonly string[],
  { env = {}, cwd, stdout = 'ignore' }: MeasureOptions = {},
): Promise<number> {
  const startedMs = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', stdout, 'pipe'],
    cwd,
    env: { ...process.env, ...env },
  })
  child.stdout?.resume()
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${complaint}`)
  return performance.now() - startedMs
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

/** Returns the peak memory of a process in MiB; null if the system does not report it. */
export function peakMiB(pid: number): number | null {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Math.round(Number(kilobytes) / 1024) : null
  } catch {
    return null
  }
}

const ticksPerSecond = 100

/** Returns the CPU time of a process in milliseconds, to hundredths of a second; 0 if the system does not report it. */
export function cpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes first and may contain anything (proc(5)).
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    return ((Number(user) + Number(system)) * 1000) / ticksPerSecond
  } catch {
    return 0
  }
}
