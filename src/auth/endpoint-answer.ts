import { isJsonObject } from '../codec/json-object.ts'
import { parseJsonOrNull } from '../codec/json-text.ts'
import { SignInError } from './errors.ts'

/** What an endpoint of OAuth says instead of what it was asked for (RFC 6749 §5.2). */
export interface Refusal {
  readonly error: string
  readonly description: string | null
}

/** An answer in JSON: what was asked for, or why it is not given. */
export type Answer =
  | { readonly body: Readonly<Record<string, unknown>>; readonly refusal: null }
  | { readonly body: null; readonly refusal: Refusal }

/**
 * Reads what an endpoint answered. Throws SignInError `server_unavailable` on 429 and 503, `answer_unusable` on what is
 * neither the object that was asked for nor a refusal in the form of RFC 6749; with `elsewhere` as its hint where the
 * address may be a wrong one.
 */
export async function readAnswer(url: string, response: Response, elsewhere?: string): Promise<Answer> {
  const text = await response.text()
  const body = objectIn(text)
  if (body && typeof body['error'] === 'string' && body['error'] !== '' && response.status < 500) {
    const description = body['error_description']
    return {
      body: null,
      refusal: { error: body['error'], description: typeof description === 'string' ? description : null },
    }
  }
  if (response.ok && body) return { body, refusal: null }
  throw unusable(url, response, text, body, elsewhere)
}

function unusable(
  url: string,
  response: Response,
  text: string,
  body: Readonly<Record<string, unknown>> | null,
  elsewhere: string | undefined,
): SignInError {
  const { status, headers } = response
  const { host, pathname } = new URL(url)
  if (status === 429 || status === 503) {
    return new SignInError('server_unavailable', `${host} is unavailable (${pathname} returned ${status})`, {
      hint: laterHint(headers),
    })
  }
  const location = headers.get('location')
  const answered =
    status >= 300 && status < 400
      ? `${status}${location === null ? '' : `, a redirect to ${location}`}, which is not followed`
      : isPage(headers, text)
        ? `${status === 200 ? '' : `${status}, `}a web page instead of JSON`
        : body === null && status === 200
          ? 'invalid JSON'
          : `${status}`
  const detail = ['detail', 'message'].map((name) => body?.[name]).find((said) => typeof said === 'string')
  return new SignInError('answer_unusable', `${host} returned ${answered} (${pathname})`, {
    why: typeof detail === 'string' ? [`It says: ${detail.slice(0, 300)}`] : [],
    ...(status < 500 && elsewhere !== undefined && { hint: elsewhere }),
  })
}

/** When to try again, as far as an answer says so in seconds (RFC 9110 §10.2.3). */
export function laterHint(headers: Headers): string {
  const seconds = /^\d{1,5}$/.exec(headers.get('retry-after') ?? '')?.[0]
  return seconds === undefined ? 'Try again later' : `Try again in ${seconds} s`
}

function isPage(headers: Headers, text: string): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)/i.test(text)
}

/** The JSON object that a text is; null where it is anything else. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJsonOrNull(text.replace(/^\uFEFF/, ''))
  return isJsonObject(value) ? value : null
}

/** A refusal as text: `invalid_grant: The code has expired.` */
export function sayingOf({ error, description }: Refusal): string {
  return description === null ? error : `${error}: ${description}`
}
