import { CompactSign, compactVerify, importJWK } from 'jose'
import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import {
  type Delivery,
  DeliveryFault,
  invalidSignature,
  isEqualSecret,
  malformedPayload,
  memberAt,
  parsePayload,
  type SigningKeys,
  type Trust,
} from './delivery.ts'

const maxClockSkewSeconds = 300

/**
 * Verifies a body that is a signed JWT, and that it is from the integration's account: Canvas signs for all
 * its customers with the same keys. Returns its claims. Throws DeliveryFault.
 */
export async function verifyClaims(
  { rawBody }: Delivery,
  { keys, rootAccountUuid, now }: Trust,
  algorithm: string,
): Promise<JsonObject> {
  const token = readToken(rawBody)
  if (token === null)
    throw invalidSignature('The body is not a signed JWT, and no webhook-signature signs it.')
  if (keys === null)
    throw invalidSignature('The integration has no keys (jwksUrl or jwks) to check a signed body with.')
  if (rootAccountUuid === null) throw invalidSignature('The integration has no rootAccountUuid.')
  const claims = parsePayload(await verifySignature(token, keys, algorithm))
  const uuid = memberAt(claims, 'metadata.root_account_uuid')
  if (typeof uuid !== 'string' || !isEqualSecret(uuid, rootAccountUuid)) {
    throw invalidSignature('metadata.root_account_uuid is not that of the integration.')
  }
  requireInTime(claims, now)
  return claims
}

/** RFC 7515 §7.1. Bounded, because anyone can send a token: no header or signature is longer. */
const compact = /^[\w-]{1,4096}\.[\w-]+\.[\w-]{1,2048}$/

/** The token may be quoted; null for a body that is no token. */
function readToken(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('latin1').trim()
  const token = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  return compact.test(token) ? token : null
}

async function verifySignature(token: string, keys: SigningKeys, algorithm: string): Promise<Uint8Array> {
  try {
    const { payload } = await compactVerify(
      token,
      async ({ alg, kid }) => {
        // Checked before the key: a key for one algorithm must not be used with another.
        if (alg !== algorithm) throw invalidSignature(`The JWT must be signed with ${algorithm}.`)
        if (typeof kid !== 'string' || kid === '') throw invalidSignature('The JWT has no kid.')
        const key = await keys.find(kid)
        if (key === null)
          throw invalidSignature('The kid of the JWT is not among the keys of the integration.')
        if (key['kty'] !== 'RSA') throw invalidSignature('The key of the JWT is not an RSA key.')
        return importKey(key, algorithm)
      },
      { algorithms: [algorithm] },
    )
    return payload
  } catch (cause) {
    if (cause instanceof DeliveryFault) throw cause
    // jose also throws errors of the platform for keys and texts that it cannot read.
    throw invalidSignature('The signature of the JWT does not match.', cause)
  }
}

/** Importing takes longer than verifying. */
const imported = new WeakMap<JsonObject, ReturnType<typeof importJWK>>()

function importKey(key: JsonObject, algorithm: string): ReturnType<typeof importJWK> {
  const known = imported.get(key) ?? importJWK(key, algorithm)
  imported.set(key, known)
  return known
}

/** Checks the times of the claims, if present: Canvas documents none. */
function requireInTime(claims: JsonObject, now: number): void {
  const seconds = now / 1000
  const { exp, iat, nbf } = Object.fromEntries(
    ['exp', 'iat', 'nbf'].map((name) => [name, memberAt(claims, name)]),
  )
  for (const [name, value] of Object.entries({ exp, iat, nbf })) {
    if (value !== undefined && typeof value !== 'number') throw malformedPayload(`${name} must be a number.`)
  }
  const isOver = typeof exp === 'number' && exp + maxClockSkewSeconds < seconds
  const isEarly = [iat, nbf].some((from) => typeof from === 'number' && from - maxClockSkewSeconds > seconds)
  if (isOver || isEarly) {
    throw new DeliveryFault(
      'timestamp_out_of_range',
      `The JWT ${isOver ? 'has expired' : 'is not valid yet'}.`,
    )
  }
}

/** Signs JSON text with a private key that has a `kid`. Throws TypeError on any other key. */
export async function signClaims(claims: string, privateKey: JsonObject): Promise<string> {
  const { kid } = privateKey
  if (typeof kid !== 'string' || kid === '') throw new TypeError('The signing key has no kid.')
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
    .sign(await importJWK(privateKey, 'RS256'))
}

/** URL of the keys that Canvas signs with, including those before and after a rotation. */
export const canvasKeysUrl = 'https://8axpcl50e4.execute-api.us-east-1.amazonaws.com/main/jwks'

const hourMs = 60 * 60 * 1000
const freshMs = hourMs
/** Time for which keys stay valid while they cannot be fetched. */
const usableMs = 24 * hourMs
/** Minimum time between two fetches, because anyone can cause one with an unknown `kid`. */
const pauseMs = 5 * 60 * 1000
/** Minimum time after a failed fetch while there are no keys. */
const failurePauseMs = 30_000

/** Returns the keys of a JSON Web Key Set (RFC 7517 §5) by id. Throws SyntaxError. */
function parseKeySet(text: string): ReadonlyMap<string, JsonObject> {
  const set: unknown = JSON.parse(text)
  const keys = isJsonObject(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new SyntaxError('it has no list of keys')
  const named = keys.flatMap((key: unknown) =>
    isJsonObject(key) && typeof key['kid'] === 'string' ? [[key['kid'], key] as const] : [],
  )
  return new Map(named)
}

export function fixedKeys(text: string): SigningKeys {
  const keys = parseKeySet(text)
  return { find: async (kid) => keys.get(kid) ?? null }
}

export type FetchKeySet = (url: string) => Promise<string>

/**
 * Keys are cached for an hour, and fetched again, at most every five minutes, if one is missing. While they cannot be
 * fetched, those of the last day are used.
 *
 * @param now milliseconds since 1970
 */
export function publishedKeys(fetchKeySet: FetchKeySet, now: () => number): (url: string) => SigningKeys {
  let last: { readonly url: string; readonly keys: SigningKeys } | undefined
  return (url) => {
    // An integration uses one URL.
    if (last?.url !== url) last = { url, keys: new PublishedKeys(() => fetchKeySet(url), now) }
    return last.keys
  }
}

class PublishedKeys implements SigningKeys {
  readonly #fetchText: () => Promise<string>
  readonly #now: () => number
  #keys: ReadonlyMap<string, JsonObject> = new Map()
  #fetchedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  /** Undefined if the last fetch succeeded. */
  #failure: unknown
  #fetching: Promise<void> | undefined

  constructor(fetchText: () => Promise<string>, now: () => number) {
    this.#fetchText = fetchText
    this.#now = now
  }

  async find(kid: string): Promise<JsonObject | null> {
    const now = this.#now
    if (now() - this.#fetchedAt >= freshMs || !this.#keys.has(kid)) await this.#refresh()
    const key = now() - this.#fetchedAt < usableMs ? this.#keys.get(kid) : undefined
    if (key) return key
    // Keys were fetched, so this one does not exist; else the sender has to try again.
    if (this.#failure === undefined) return null
    throw new DeliveryFault('keys_unavailable', 'The signing keys could not be fetched.', {
      cause: this.#failure,
    })
  }

  /** Waits for the end of the pause; concurrent calls share one fetch. */
  async #refresh(): Promise<void> {
    const pause = this.#failure !== undefined && this.#keys.size === 0 ? failurePauseMs : pauseMs
    if (!this.#fetching && this.#now() - this.#triedAt < pause) return
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined
    })
    await this.#fetching
  }

  async #fetch(): Promise<void> {
    this.#triedAt = this.#now()
    try {
      this.#keys = parseKeySet(await this.#fetchText())
      this.#fetchedAt = this.#now()
      this.#failure = undefined
    } catch (cause) {
      this.#failure = cause
    }
  }
}
