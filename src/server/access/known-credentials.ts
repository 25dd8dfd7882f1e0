/** What was found out about credentials a moment ago. */
export interface KnownCredentials<Found> {
  /** What is known of the credential with this digest, else what `look` finds; that it finds nothing is not kept. */
  find(digest: string, look: () => Promise<Found | undefined>): Promise<Found | undefined>
  /** Nothing that was found before counts any more, nor what is being looked up. */
  forget(): void
}

/** A few hundred bytes each. */
const mostKnown = 1000
/** How long it may take until what other processes on the same database write shows here. */
const goodForMs = 1000

interface Entry<Found> {
  /** Those who ask while it is looked up wait for one and the same. */
  readonly found: Promise<Found | undefined>
  readonly untilMs: number
}

/** The credentials that one process knows; `nowMs` never goes back. */
export function knownCredentials<Found extends object>(
  nowMs: () => number = () => performance.now(),
): KnownCredentials<Found> {
  const known = new Map<string, Entry<Found>>()

  function learn(digest: string, look: () => Promise<Found | undefined>): Promise<Found | undefined> {
    if (known.size >= mostKnown) known.clear()
    const entry = { found: look(), untilMs: nowMs() + goodForMs }
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
