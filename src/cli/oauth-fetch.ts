import { SignInError } from '../auth/errors.ts'
import type { OAuthFetch } from '../auth/fetch.ts'
import { assertConfidential } from '../client/base-url.ts'
import { readBytes } from '../client/decode.ts'
import { hostOf, lineOf, ProtocolError, TimeoutError } from '../client/errors.ts'
import type { Exchange, Reply, Transport } from '../client/transport.ts'

/** The most that is read of an answer: 1 MiB. */
const maximumBytes = 1024 * 1024
/** A person is waiting, or a lock is held, while such a request is on its way. */
const longestMs = 10_000
/** All that is asked of the headers of an answer; a transport cannot list them. */
const headerNames = ['content-type', 'date', 'www-authenticate', 'retry-after', 'location']

/**
 * What oauth4webapi sends its requests by: this program's own transport, so that proxies and faults are the same
 * everywhere. Rejects with a ConnectionError; with a TimeoutError where the whole answer is not there within
 * `timeoutMs`, at most 10 s; with a SignInError where it is too long or not HTTP; with a RequestError where secrets
 * would go to another machine over plain http, unless `insecure` allows that; and with the reason of a signal.
 */
export function oauthFetch(
  transport: Transport,
  signal: AbortSignal,
  insecure: boolean,
  timeoutMs = longestMs,
): OAuthFetch {
  return async (url, { method, headers, body, signal: own }) => {
    if (!insecure) assertConfidential(url)
    const limitMs = Math.min(timeoutMs, longestMs)
    const late = new AbortController()
    const ends = AbortSignal.any([signal, late.signal, ...(own ? [own] : [])])
    ends.throwIfAborted()
    const timer = setTimeout(() => {
      late.abort(new TimeoutError({ method, url }, 'first_byte_timeout', limitMs))
    }, limitMs)
    const request: Exchange = { method, url, headers, ...(body && { body: body.toString() }), signal: ends }
    try {
      return await Promise.race([ended(ends), answerTo(request, transport)])
    } catch (error) {
      if (ends.aborted) throw ends.reason
      if (!(error instanceof ProtocolError)) throw error
      throw new SignInError('answer_unusable', error.message, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}

async function answerTo(request: Exchange, transport: Transport): Promise<Response> {
  const reply = await transport(request)
  const answer = `the answer of ${hostOf(request)} to ${lineOf(request)}`
  if (reply.status < 200 || reply.status > 599) {
    throw new ProtocolError(request, 'not_http', `${answer} has the status ${reply.status}`)
  }
  const bytes = await readBytes(reply, maximumBytes)
  if (bytes !== null) return responseOf(reply, bytes)
  throw new ProtocolError(request, 'too_large', `${answer} is longer than 1 MiB`)
}

function responseOf({ status, headers }: Reply, bytes: Buffer): Response {
  const present = headerNames.flatMap((name): [string, string][] => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  // These can have no body (Fetch Standard, "null body status").
  const content = [204, 205, 304].includes(status) ? null : new Uint8Array(bytes)
  return new Response(content, { status, headers: present })
}

/** A transport need not heed its signal. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
