import { type Caller, type CallerOptions, createCaller } from '../../client/caller.ts'
import { ApiError, hostOf } from '../../client/errors.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import { maskSecretsInText } from '../terminal/format-text.ts'
import { type Io, note, writeDebug } from '../terminal/io.ts'

export type CallerParts = Pick<CallerOptions, 'baseUrl' | 'transport'> & Partial<CallerOptions>

/** Concurrent and subsequent requests share it. */
const rateLimitNoteMs = 10_000

/** Notes long waits, and with `--debug` logs requests. */
export function openCaller(
  io: Io,
  settings: Settings,
  secrets: () => readonly string[],
  parts: CallerParts,
): Caller {
  const debugging = settings.debug.value
  let rateLimitToldUntilMs = 0
  // A platform may return what it received.
  const shown = (text: string) => maskSecretsInText(text, secrets())
  return createCaller({
    attempts: settings.retries.value + 1,
    timeoutMs: settings.timeout.value,
    maxRetryWaitMs: settings.maxRetryWait.value,
    insecureHttp: settings.insecureHttp.value,
    now: io.now,
    sleep: io.sleep,
    random: io.random,
    ...parts,
    onWait: (wait) => {
      parts.onWait?.(wait)
      const { waitMs, attempt, attempts, error } = wait
      const seconds = Math.ceil(waitMs / 1000)
      if (error instanceof ApiError && error.status === 429) {
        if (io.now() < rateLimitToldUntilMs) return
        rateLimitToldUntilMs = io.now() + Math.max(waitMs, rateLimitNoteMs)
        return void note(io, shown(`Rate limited by ${hostOf(error)}; continuing in ${seconds} s`))
      }
      if (waitMs <= 2000) return
      void note(io, shown(`${error.message}; attempt ${attempt + 1} of ${attempts} in ${seconds} s`))
    },
    onExchange: debugging
      ? ({ method, url, attempt, status, requestId, error, durationMs }) => {
          const outcome = status ?? error?.message ?? 'no response'
          const id = requestId ? `, ${requestId}` : ''
          void writeDebug(
            io,
            shown(`${method} ${url} → ${outcome} (attempt ${attempt}, ${durationMs} ms${id})`),
          )
        }
      : undefined,
  })
}
