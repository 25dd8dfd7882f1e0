import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'

/** RFC 6749 §5.1. */
export interface AccessToken {
  readonly token: string
  /** Null if the system does not say. */
  readonly scopes: readonly string[] | null
  readonly endsAtMs: number
}

/** Time before its end at which a token is replaced. */
const marginMs = 60_000
/** In memory of an academy; each replaced secret leaves one. */
const maxTokens = 100
/** By an object that lives as long as the academy, and by a key. */
const tokensByOwner = new WeakMap<object, Map<string, Promise<AccessToken>>>()

/** Throws as `grant`. */
export async function keptToken(
  owner: object,
  key: string,
  nowMs: number,
  grant: () => Promise<AccessToken>,
): Promise<AccessToken> {
  const tokens = tokensOf(owner)
  const kept = await tokens.get(key)?.catch(() => undefined)
  if (kept && kept.endsAtMs - marginMs > nowMs) return kept
  const granted = grant()
  if (tokens.size >= maxTokens) tokens.clear()
  tokens.set(key, granted)
  granted.catch(() => tokens.delete(key))
  return granted
}

export function forgetToken(owner: object, key: string): void {
  tokensOf(owner).delete(key)
}

function tokensOf(owner: object): Map<string, Promise<AccessToken>> {
  const known = tokensByOwner.get(owner) ?? new Map<string, Promise<AccessToken>>()
  tokensByOwner.set(owner, known)
  return known
}

/** Returns the request of a token; a client with a secret in the header authenticates by HTTP Basic. */
export function tokenRequest(
  form: Readonly<Record<string, string>>,
  client?: { readonly id: string; readonly secret: string },
) {
  // RFC 6749 §2.3.1: both are form-encoded before they are joined.
  const pair = client && [client.id, client.secret].map(encodeURIComponent).join(':')
  return {
    headers: {
      ...{ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      ...(pair !== undefined && { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }),
    },
    body: String(new URLSearchParams(form)),
  }
}

/** Lifetime of a token whose response does not say it. */
const assumedSeconds = 300

/** Reads the response of a token endpoint: a token, or the code of its error; null for anything else. */
export function tokenIn(status: number, text: string, nowMs: number): AccessToken | string | null {
  const answer = parseJsonOrNull(text)
  if (!isJsonObject(answer)) return null
  const { error, access_token: token, expires_in: seconds, scope } = answer
  if (typeof error === 'string' && /^[a-z_]{1,64}$/.test(error)) return error
  if (status !== 200 || typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) return null
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds : assumedSeconds
  return {
    token,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : null,
    endsAtMs: nowMs + lifetime * 1000,
  }
}
