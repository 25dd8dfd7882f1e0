import { fork } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseError } from '../database/database.ts'

export interface UpgradeProgress {
  readonly step: number
  readonly steps: number
  readonly elapsedMs: number
}

export interface UpgradeWatch {
  /** Called at the start of each step, and every ten seconds; never before the last call has ended. */
  readonly onProgress: (progress: UpgradeProgress) => Promise<void>
  /** Completed steps are kept. */
  readonly signal: AbortSignal
  /** Smaller academies are upgraded at once. */
  readonly largeBytes?: number
  readonly everyMs?: number
}

export type FromUpgrade =
  | { readonly kind: 'step'; readonly step: number; readonly steps: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly hint?: string | undefined }

const isSource = import.meta.url.endsWith('.ts')
const entry = new URL(isSource ? './upgrade-process.ts' : './upgrade-process.cjs', import.meta.url)
const memoryMiB = 256
const defaultIntervalMs = 10_000

/**
 * Upgrades an academy in a process of its own. A statement over millions of rows blocks its thread until it
 * ends; this way the server answers requests meanwhile, Ctrl-C works, and the memory is freed at the end.
 * Throws DatabaseError, and the reason of the signal.
 */
export async function upgradeInProcess(path: string, watch: UpgradeWatch): Promise<void> {
  const { onProgress, signal, everyMs = defaultIntervalMs } = watch
  signal.throwIfAborted()
  const beganMs = performance.now()
  const child = fork(entry, [path], {
    execArgv: isSource ? ['--import', import.meta.resolve('tsx')] : [],
    // A single-file executable takes flags of Node by the variable alone.
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --max-old-space-size=${memoryMiB}`.trim(),
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  let last: FromUpgrade | undefined
  let at: { readonly step: number; readonly steps: number } | undefined
  // Messages may wait in the channel when the process has exited.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  let told = Promise.resolve()
  // The upgrade continues if progress cannot be reported.
  const tell = () => {
    if (!at) return
    const progress = { ...at, elapsedMs: performance.now() - beganMs }
    told = told.then(() => onProgress(progress)).catch(() => {})
  }
  child.on('message', (message: FromUpgrade) => {
    last = message
    if (message.kind !== 'step') return
    at = message
    tell()
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const timer = setInterval(tell, everyMs)
  try {
    const [[code, killedBy]] = await ended
    signal.throwIfAborted()
    if (last?.kind === 'done') return await told
    if (last?.kind === 'failed')
      throw new DatabaseError(path, last.message, { ...(last.hint && { hint: last.hint }) })
    throw new DatabaseError(
      path,
      `cannot be upgraded: the process that does it ended early (${killedBy ?? `exit code ${code}`})`,
      {
        hint: 'Run the same command again: what was upgraded is kept',
      },
    )
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', kill)
  }
}
