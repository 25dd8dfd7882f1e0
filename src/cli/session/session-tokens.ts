import { SignInError } from '../../auth/errors.ts'
import type { Fetch } from '../../auth/oauth-exchange.ts'
import { profileTokenSource, type TokenSource } from '../../auth/token-source.ts'
import { ConnectionError, hostOf, ProtocolError, TimeoutError } from '../../client/errors.ts'
import { readBytes } from '../../client/reply.ts'
import { assertConfidential } from '../../client/request.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import { userAgent } from '../../client/undici.ts'
import type { ProfileStore, StoredTokens } from '../../config/profiles.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { Target } from '../../config/target.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import { type Io, note, writeDebug } from '../terminal/io.ts'
import { signInCommand } from './sign-in-command.ts'

const maxResponseBytes = 1024 * 1024
/** The user waits, or a lock is held, during such a request. */
const maxTimeoutMs = 30_000

/** Has a timeout for the complete response. */
export function createWebFetch(transport: Transport, timeoutMs: number): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const limitMs = Math.min(timeoutMs, maxTimeoutMs)
    const controller = new AbortController()
    const request: HttpRequest = {
      method,
      url,
      // Replace the user agent of the OAuth library.
      headers: { ...headers, 'user-agent': userAgent },
      ...(body !== undefined && { body: body.toString() }),
      signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    }
    const timer = setTimeout(() => {
      controller.abort(new TimeoutError({ method, url }, 'first_byte_timeout', limitMs))
    }, limitMs)
    try {
      const timeouts = { timeoutMs: limitMs, idleTimeoutMs: limitMs }
      return await responseOf(request, await exchangeWithin(transport, request, timeouts))
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      throw new SignInError('answer_unusable', error.message, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}

async function responseOf(request: HttpRequest, reply: HttpResponse): Promise<Response> {
  if (reply.status < 200 || reply.status > 599) {
    throw new SignInError('answer_unusable', `${hostOf(request)} returned the invalid status ${reply.status}`)
  }
  const bytes = await readBytes(reply, maxResponseBytes)
  if (bytes === null) {
    const message = `The response from ${hostOf(request)} is larger than 1 MiB`
    throw new SignInError('answer_unusable', message)
  }
  const names = ['content-type', 'date', 'www-authenticate', 'retry-after', 'location']
  const headers = names.flatMap((name): [string, string][] => {
    const value = reply.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  // Responses with these statuses must have no body (Fetch §2.2.3).
  const empty = [204, 205, 304].includes(reply.status)
  return new Response(empty ? null : new Uint8Array(bytes), { status: reply.status, headers })
}

/** Writes to standard error, as `--debug` does for all others. */
export function logExchanges(fetch: Fetch, io: Io): Fetch {
  return async (url, request) => {
    const startMs = io.now()
    const tell = (outcome: string) =>
      writeDebug(io, `${request.method} ${url} → ${outcome} (${io.now() - startMs} ms)`)
    try {
      const response = await fetch(url, request)
      await tell(String(response.status))
      return response
    } catch (error) {
      await tell(error instanceof Error ? error.message : 'no response')
      throw error
    }
  }
}

/**
 * Timeout of a refresh, independent of `--timeout`: other processes wait for it, and a late response is lost.
 */
const timeoutMs = 10_000

interface SessionTokensOptions {
  readonly io: Io
  readonly settings: Settings
  readonly store: ProfileStore
  readonly transport: Transport
  readonly profile: string
  readonly tokens: StoredTokens
  readonly target: Target
  readonly onRefreshed: (tokens: StoredTokens) => void
}

export function sessionTokens(options: SessionTokensOptions): TokenSource {
  const { io, store, profile, tokens, target, onRefreshed } = options
  return profileTokenSource({
    profile,
    store,
    tokens,
    onRefreshed,
    now: io.now,
    signal: io.signal,
    note: (text) => note(io, text),
    signInCommand: signInCommand(target, { whole: true }),
    fetch: refreshFetch(options),
  })
}

/**
 * Returns a fetch that reports every network error as an unavailable server: the request that needs the token
 * was not sent, so nothing is unknown about its effect.
 */
function refreshFetch({ io, settings, transport, profile }: SessionTokensOptions): Fetch {
  return async (url, request) => {
    if (!settings.insecureHttp.value) assertConfidential(url)
    const plain = createWebFetch(transport, timeoutMs)
    const fetch = settings.debug.value ? logExchanges(plain, io) : plain
    try {
      return await fetch(url, request).catch((error: unknown) => {
        // The response was lost, so the refresh token may be used up; an academy accepts it once more for a
        // moment.
        if (error instanceof ConnectionError && ['reset', 'cut_short'].includes(error.code)) {
          return fetch(url, request)
        }
        throw error
      })
    } catch (error) {
      if (!(error instanceof ConnectionError || error instanceof TimeoutError)) throw error
      const why = [`Cannot refresh the session of profile ${profile}`]
      throw new SignInError('server_unavailable', error.message, { cause: error, why })
    }
  }
}
