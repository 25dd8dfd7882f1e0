import type { ChalkInstance } from 'chalk'
import { visible } from '../../codec/visible.ts'
import type { LogEntry } from '../../server/http/log.ts'

/** An entry of the server's log for people: `12:00:00 GET /v1/courses 200 3 ms`, and below it what failed inside. */
export function logText(chalk: ChalkInstance): (entry: LogEntry) => string {
  return ({ time, method, path, status, durationMs, code, cause, requestId }) => {
    const paint = status >= 500 ? chalk.red : status >= 400 ? chalk.yellow : chalk.green
    const clock = new Date(time).toTimeString().slice(0, 8)
    const parts = [
      chalk.dim(clock),
      visible(method),
      visible(path),
      paint(String(status)),
      `${Math.round(durationMs)} ms`,
      ...(code === undefined ? [] : [code]),
      ...(status >= 500 ? [requestId] : []),
    ]
    // A fault of the caller's may have a piece of the body in it.
    const inside = status >= 500 && cause instanceof Error ? (cause.stack ?? cause.message) : ''
    const below = inside === '' ? [] : inside.split('\n').map((line) => `  ${visible(line)}`)
    return `${[parts.join(' '), ...below].join('\n')}\n`
  }
}
