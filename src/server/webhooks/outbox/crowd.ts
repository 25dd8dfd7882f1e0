const crowdedPerSecond = 300
const countedMs = 100

/** Tells whether many ask at this time. */
export interface RefusalGroup {
  /** Counts one more who asks. */
  asked(): void
  /** True where more than 300 a second have asked of late. */
  isThere(): boolean
}

/** A crowd by the requests of the last tenth of a second; `elapsedMs` never goes back. */
export function crowdBy(elapsedMs: () => number): RefusalGroup {
  let requests = 0
  let countedFrom = elapsedMs()
  let isCrowded = false
  return {
    asked() {
      requests += 1
      const ms = elapsedMs() - countedFrom
      if (ms < countedMs) return
      isCrowded = requests > (crowdedPerSecond / 1000) * ms
      requests = 0
      countedFrom += ms
    },
    // Who was there is not, once nobody has asked for a while.
    isThere: () => isCrowded && elapsedMs() - countedFrom <= 2 * countedMs,
  }
}
