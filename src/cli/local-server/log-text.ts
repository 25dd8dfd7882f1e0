import type { ChalkInstance } from 'chalk'
import { escapeHidden } from '../../codec/display-text.ts'
import type { LogEntry } from '../../server/http/log.ts'

/**
 * Formats a log entry for people: `12:00:00 GET /v1/courses 200 3 ms`, followed by the cause of an internal
 * error.
 */
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
