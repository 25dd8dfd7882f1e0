import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ChalkInstance } from 'chalk'
import { escapeHidden } from '../../codec/display-text.ts'
import type { LogEntry } from '../../server/http/log.ts'
import { ignoreStreamErrors, type OutputStream } from '../terminal/io.ts'
import { openTarget } from '../terminal/target-file.ts'

/**
 * Secrets that the start of a server prints once: the key of a new academy, and a password for the first
 * admin.
 */
export interface FirstSecrets {
  readonly key?: string
  readonly email?: string
  readonly password?: string
}

export function startText(url: string, { key, email, password }: FirstSecrets): string {
  const lines = [
    url,
    key === undefined ? [] : `Admin API key (shown only once): ${key}`,
    password === undefined
      ? []
      : `Password for ${email} at ${dashboardOf(url)} (shown only once): ${password}`,
  ]
  return `${lines.flat().join('\n')}\n`
}

export function dashboardOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/dashboard`
}

export interface KeyFile {
  /** A missing file gets a key, even for an existing academy. */
  readonly isMissing: boolean
  write(key: string): Promise<void>
}

/** Checks that the key can be written, before any other work. Throws as openTarget does. */
export async function openKeyFile(cwd: string, name: string): Promise<KeyFile> {
  const exists = await access(resolve(cwd, name)).then(
    () => true,
    () => false,
  )
  // An existing file holds a key that is still valid; it is replaced only by a new one.
  if (!exists) {
    const probe = await openTarget(cwd, name)
    await probe.discard()
  }
  return {
    isMissing: !exists,
    async write(key: string) {
      const target = await openTarget(cwd, name, { force: true, mode: 0o600 })
      await target.write(Buffer.from(`${key}\n`))
      await target.finish()
    },
  }
}

/** `12:00:00 GET /v1/courses 200 3 ms`, followed by the cause of an internal error. */
export function logText(chalk: ChalkInstance): (entry: LogEntry) => string {
  return ({ time, method, path, status, durationMs, code, cause, requestId }) => {
    const paint = status >= 500 ? chalk.red : status >= 400 ? chalk.yellow : chalk.green
    const clock = new Date(time).toTimeString().slice(0, 8)
    const parts = [
      chalk.dim(clock),
      escapeHidden(method),
      escapeHidden(path),
      paint(String(status)),
      `${Math.round(durationMs)} ms`,
      ...(code === undefined ? [] : [code]),
      ...(status >= 500 ? [requestId] : []),
    ]
    // The cause of a client's error may quote the body.
    const inside = status >= 500 && cause instanceof Error ? (cause.stack ?? cause.message) : ''
    const below = inside === '' ? [] : inside.split('\n').map((line) => `  ${escapeHidden(line)}`)
    return `${[parts.join(' '), ...below].join('\n')}\n`
  }
}

/** Maximum tolerated skew; small against the codes that last a minute. */
const maxSkewMs = 5000

/**
 * Returns the log lines about a wrong clock, here or at the database, LF included; empty if both are right.
 *
 * @param aheadMs how far this machine's clock is ahead, negative if it is behind
 */
export function clockText(aheadMs: number, forPeople: boolean): string {
  if (Math.abs(aheadMs) <= maxSkewMs) return ''
  const seconds = Math.round(aheadMs / 1000)
  if (!forPeople) {
    return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), clockAheadSeconds: seconds })}\n`
  }
  const where = seconds > 0 ? 'ahead of' : 'behind'
  return `The clock of this machine is ${Math.abs(seconds)} s ${where} the clock of the database: synchronise both, or other servers may refuse sign-in codes\n`
}

/**
 * Returns the log lines about a missing or wrong encryption key, LF included; empty if it is right.
 *
 * @param trouble why stored secrets cannot be decrypted, a sentence
 */
export function encryptionText(trouble: string | undefined, forPeople: boolean): string {
  if (trouble === undefined) return ''
  if (forPeople) return `${trouble}\n`
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), encryption: trouble })}\n`
}

const everyMs = 100
const pipeCapacity = 64 * 1024
/** Limit for a reader that does not read. */
const maxWaiting = 1024 * 1024

interface LineWriter {
  write(line: string): void
  close(): void
}

/**
 * Creates a writer that batches the lines of a tenth of a second: one system call for all, on a busy server.
 * Waiting lines are written before the process ends, also in a crash. Drops lines while the reader is a megabyte behind.
 */
export function createLineWriter(stream: OutputStream): LineWriter {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  ignoreStreamErrors(stream)

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    // Registered only while lines wait, so that a writer that is not closed leaves no listener.
    process.off('exit', flush)
    const text = waiting
    waiting = ''
    if (text !== '' && stream.writableLength < maxWaiting) stream.write(text)
  }

  return {
    write(line) {
      if (line === '') return
      if (waiting === '') process.on('exit', flush)
      waiting += line
      if (waiting.length >= pipeCapacity) flush()
      else timer ??= setTimeout(flush, everyMs).unref()
    },
    close: flush,
  }
}
