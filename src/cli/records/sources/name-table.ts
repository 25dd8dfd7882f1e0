import { hash } from 'node:crypto'

/** First line of each name in a file. */
export interface NameTable {
  /** Adds the names of a line. If one exists already, adds none and returns its line. */
  add(names: readonly string[], line: number): number | undefined
}

const minExpected = 4096
/** Maximum capacity to allocate in advance: line breaks may outnumber rows. */
const maxExpected = 4_000_000
/** Load factor at which the table doubles. */
const maxLoad = 0.7

/**
 * Creates an empty table. It stores a 64-bit hash and the line of each name instead of its text: two million names
 * take 34 MiB, and the chance that any two of them collide is one in ten million.
 *
 * @param expected number of names; the table grows if there are more
 */
export function createNameTable(expected: number): NameTable {
  let capacity = Math.ceil(Math.min(Math.max(minExpected, expected), maxExpected) / maxLoad) + 1
  let count = 0
  /** Slots of three numbers: both halves of the hash, and the line, which is 0 in a free slot. */
  let slots = new Uint32Array(capacity * 3)

  function placeOf(high: number, low: number): number {
    let slot = low % capacity
    while (slots[slot * 3 + 2] !== 0 && (slots[slot * 3] !== high || slots[slot * 3 + 1] !== low)) {
      slot = (slot + 1) % capacity
    }
    return slot * 3
  }

  function put(at: number, high: number, low: number, line: number): void {
    slots[at] = high
    slots[at + 1] = low
    slots[at + 2] = line
  }

  function grow(): void {
    const before = slots
    capacity *= 2
    slots = new Uint32Array(capacity * 3)
    for (let at = 0; at < before.length; at += 3) {
      const [high = 0, low = 0, line = 0] = [before[at], before[at + 1], before[at + 2]]
      if (line !== 0) put(placeOf(high, low), high, low, line)
    }
  }

  return {
    add(names, line) {
      const hashes = names.map((name) => {
        const digest = hash('sha1', name, 'buffer')
        return [digest.readUInt32LE(0), digest.readUInt32LE(4)] as const
      })
      for (const [high, low] of hashes) {
        const known = slots[placeOf(high, low) + 2]
        if (known !== 0) return known
      }
      for (const [high, low] of hashes) put(placeOf(high, low), high, low, line)
      count += hashes.length
      if (count > capacity * maxLoad) grow()
      return undefined
    },
  }
}
