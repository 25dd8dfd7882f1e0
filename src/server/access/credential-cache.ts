/** Caches credentials for a moment. */
export interface CredentialCache<Found> {
  /**
   * Returns the cached credential with this digest, else the result of `look`, which is cached unless
   * undefined.
   */
  find(digest: string, look: () => Promise<Found | undefined>): Promise<Found | undefined>
  /** Drops all entries, and the results of lookups in progress. */
  forget(): void
}

/** Maximum entries, a few hundred bytes each. */
const maxEntries = 1000
/** Maximum delay until this process sees a change by another one on the same database. */
const maxAgeMs = 1000

interface Entry<Found> {
  /** Concurrent callers share one lookup. */
  readonly found: Promise<Found | undefined>
  readonly untilMs: number
}

/** Creates a credential cache; `nowMs` must be monotonic. */
export function createCredentialCache<Found extends object>(
  nowMs: () => number = () => performance.now(),
): CredentialCache<Found> {
  const known = new Map<string, Entry<Found>>()

  function learn(digest: string, look: () => Promise<Found | undefined>): Promise<Found | undefined> {
    if (known.size >= maxEntries) known.clear()
    const entry = { found: look(), untilMs: nowMs() + maxAgeMs }
    known.set(digest, entry)
    const drop = () => {
      if (known.get(digest) === entry) known.delete(digest)
    }
    entry.found.then((found) => found ?? drop(), drop)
    return entry.found
  }

  return {
    find(digest, look) {
      const entry = known.get(digest)
      return entry && nowMs() < entry.untilMs ? entry.found : learn(digest, look)
    },
    forget: () => known.clear(),
  }
}
