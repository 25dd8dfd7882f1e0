import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import type { SigningKeys } from './delivery.ts'
import { DeliveryFault } from './delivery-fault.ts'

/** Where Canvas publishes the keys that it signs with, those of before and after a rotation too. */
export const canvasKeysUrl = 'https://8axpcl50e4.execute-api.us-east-1.amazonaws.com/main/jwks'

const hourMs = 60 * 60 * 1000
/** How long keys count before they are fetched again. */
const freshMs = hourMs
/** How long they still count while they cannot be fetched again. */
const usableMs = 24 * hourMs
/** The least time between two fetches, which anybody may cause with a `kid` of their own making. */
const pauseMs = 5 * 60 * 1000
/** The same after one that failed while there are no keys at all. */
const failurePauseMs = 30_000
/** Addresses whose keys are kept: those of integrations, of which there is one. */
const maximumAddresses = 8

/** The keys of a JSON Web Key Set (RFC 7517 §5) by their ids. Throws SyntaxError where a text is none. */
export function keysIn(text: string): ReadonlyMap<string, JsonObject> {
  const set: unknown = JSON.parse(text)
  const keys = isJsonObject(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new SyntaxError('it has no list of keys')
  const named = keys.flatMap((key: unknown) =>
    isJsonObject(key) && typeof key['kid'] === 'string' ? [[key['kid'], key] as const] : [],
  )
  return new Map(named)
}

/** Keys that are known, such as those of a file. Throws SyntaxError where the text is no key set. */
export function knownKeys(text: string): SigningKeys {
  const keys = keysIn(text)
  return { find: async (kid) => keys.get(kid) ?? null }
}

/** What fetches the text of a key set; it bounds its size and its time. */
export type FetchKeySet = (url: string) => Promise<string>

/**
 * Keys that are published at an address: kept for an hour, and fetched once more, at most every five minutes, where a key is
 * asked for that is not among them. While they cannot be fetched, those of the last day count.
 *
 * @param now milliseconds since 1970
 */
export function publishedKeys(fetchKeySet: FetchKeySet, now: () => number): (url: string) => SigningKeys {
  const all = new Map<string, SigningKeys>()
  return (url) => {
    const known = all.get(url)
    if (known) return known
    const [oldest] = all.keys()
    if (all.size >= maximumAddresses && oldest !== undefined) all.delete(oldest)
    const keys = keysAt(() => fetchKeySet(url), now)
    all.set(url, keys)
    return keys
  }
}

function keysAt(fetchText: () => Promise<string>, now: () => number): SigningKeys {
  let keys: ReadonlyMap<string, JsonObject> = new Map()
  let fetchedAt = Number.NEGATIVE_INFINITY
  let triedAt = Number.NEGATIVE_INFINITY
  let failure: unknown
  let fetching: Promise<void> | undefined

  async function fetchAgain(): Promise<void> {
    triedAt = now()
    try {
      keys = keysIn(await fetchText())
      fetchedAt = now()
      failure = undefined
    } catch (cause) {
      failure = cause
    }
  }

  /** The keys as they are, fetched by one for all who need them at the same time. */
  async function refresh(): Promise<void> {
    const pause = failure !== undefined && keys.size === 0 ? failurePauseMs : pauseMs
    if (!fetching && now() - triedAt < pause) return
    fetching ??= fetchAgain().finally(() => {
      fetching = undefined
    })
    await fetching
  }

  return {
    find: async (kid) => {
      if (now() - fetchedAt >= freshMs || !keys.has(kid)) await refresh()
      const key = now() - fetchedAt < usableMs ? keys.get(kid) : undefined
      if (key) return key
      // Whether the key exists is not known: the sender has to try again.
      if (failure === undefined) return null
      throw new DeliveryFault('keys_unavailable', 'The signing keys could not be fetched.', {
        cause: failure,
      })
    },
  }
}
