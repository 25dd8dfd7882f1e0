import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** The middle one of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The value below which `part` (0 to 1) of some numbers lie. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Runs a program to its end with its output thrown away, or into a file; milliseconds of wall time. */
export async function timed(
  command: string,
  args: readonly string[],
  { env = {}, stdout = 'ignore' }: { env?: NodeJS.ProcessEnv; stdout?: 'ignore' | number } = {},
): Promise<number> {
  const startedMs = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', stdout, 'pipe'], env: { ...process.env, ...env } })
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${complaint}`)
  return performance.now() - startedMs
}

/** A server process and the first line it printed, its address. */
export interface Served {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** Starts a program that prints its address and serves until SIGTERM. */
export async function served(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
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

/** The most memory that a process has held so far, in MiB; null where the system does not tell. */
export function peakMiB(pid: number): number | null {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Math.round(Number(kilobytes) / 1024) : null
  } catch {
    return null
  }
}

const ticksPerSecond = 100

/** The CPU time that a process has taken so far, in milliseconds, by hundredths of a second; 0 where nobody tells. */
export function cpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes before, and may hold anything (proc(5)).
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    return ((Number(user) + Number(system)) * 1000) / ticksPerSecond
  } catch {
    return 0
  }
}
