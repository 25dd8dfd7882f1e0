import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { DeliveryFault, type SigningKeys } from './delivery.ts'

/** URL of the keys that Canvas signs with, including those before and after a rotation. */
export const canvasKeysUrl = 'https://8axpcl50e4.execute-api.us-east-1.amazonaws.com/main/jwks'

const hourMs = 60 * 60 * 1000
/** Time until keys are fetched again. */
const freshMs = hourMs
/** Time for which keys stay valid while they cannot be fetched. */
const usableMs = 24 * hourMs
/** Minimum time between two fetches, because anyone can cause one with an unknown `kid`. */
const pauseMs = 5 * 60 * 1000
/** Minimum time after a failed fetch while there are no keys. */
const failurePauseMs = 30_000

/** Returns the keys of a JSON Web Key Set (RFC 7517 §5) by id. Throws SyntaxError. */
export function parseKeySet(text: string): ReadonlyMap<string, JsonObject> {
  const set: unknown = JSON.parse(text)
  const keys = isJsonObject(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new SyntaxError('it has no list of keys')
  const named = keys.flatMap((key: unknown) =>
    isJsonObject(key) && typeof key['kid'] === 'string' ? [[key['kid'], key] as const] : [],
  )
  return new Map(named)
}

/** For keys from a file. Throws SyntaxError. */
export function fixedKeys(text: string): SigningKeys {
  const keys = parseKeySet(text)
  return { find: async (kid) => keys.get(kid) ?? null }
}

/** It limits size and time. */
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
  /** Error of the last fetch; undefined if it succeeded. */
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

  /** Fetches the keys if the pause is over; concurrent calls share one fetch. */
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
