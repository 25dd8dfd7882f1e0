/** Numbers by name, such as the first line of each name in a file. */
export interface NameTable {
  /** Returns the number of a name; 0 if there is none. */
  get(name: string): number
  /** Sets the number of a name, which must not be 0, and returns the one before; 0 if there was none. */
  set(name: string, value: number): number
  /** Adds the names of a line. If one exists already, adds none and returns its line. */
  add(names: readonly string[], line: number): number | undefined
}

const minExpected = 4096
/** Maximum capacity to allocate in advance: line breaks may outnumber rows. */
const maxExpected = 4_000_000
/** Load factor at which the table doubles. */
const maxLoad = 0.7

/**
 * Creates an empty table. It stores a 64-bit hash and a number for each name instead of its text: two million names
 * take 34 MiB, and the chance that any two of them collide is one in ten million.
 *
 * @param expected number of names; the table grows if there are more
 */
export function createNameTable(expected: number): NameTable {
  let capacity = Math.ceil(Math.min(Math.max(minExpected, expected), maxExpected) / maxLoad) + 1
  let count = 0
  /** Slots of three numbers: both halves of the hash, and the value, which is 0 in a free slot. */
  let slots = new Uint32Array(capacity * 3)

  function placeOf(high: number, low: number): number {
    let slot = low % capacity
    while (slots[slot * 3 + 2] !== 0 && (slots[slot * 3] !== high || slots[slot * 3 + 1] !== low)) {
      slot = slot + 1 === capacity ? 0 : slot + 1
    }
    return slot * 3
  }

  function put(at: number, high: number, low: number, value: number): void {
    slots[at] = high
    slots[at + 1] = low
    slots[at + 2] = value
  }

  function grow(): void {
    const before = slots
    capacity *= 2
    slots = new Uint32Array(capacity * 3)
    for (let at = 0; at < before.length; at += 3) {
      const [high = 0, low = 0, value = 0] = [before[at], before[at + 1], before[at + 2]]
      if (value !== 0) put(placeOf(high, low), high, low, value)
    }
  }

  function get(name: string): number {
    hashName(name)
    return slots[placeOf(hashHigh, hashLow) + 2] ?? 0
  }

  function set(name: string, value: number): number {
    hashName(name)
    const at = placeOf(hashHigh, hashLow)
    const before = slots[at + 2] ?? 0
    put(at, hashHigh, hashLow, value)
    if (before === 0) {
      count += 1
      if (count > capacity * maxLoad) grow()
    }
    return before
  }

  return {
    get,
    set,
    add(names, line) {
      for (const name of names) {
        const known = get(name)
        if (known !== 0) return known
      }
      for (const name of names) set(name, line)
      return undefined
    },
  }
}

/** Both halves of the last hash: returning them as an object would take longer than hashing. */
let hashHigh = 0
let hashLow = 0

/** Hashes a name with two multiplicative hashes of 32 bits, and mixes both as MurmurHash3 does. */
function hashName(name: string): void {
  let one = 0x9e3779b9 ^ name.length
  let other = 0x85ebca6b
  for (let index = 0; index < name.length; index += 1) {
    const unit = name.charCodeAt(index)
    one = Math.imul(one ^ unit, 0xcc9e2d51)
    one = (one << 13) | (one >>> 19)
    other = Math.imul(other ^ unit, 0x1b873593)
    other = (other << 15) | (other >>> 17)
  }
  one = mixed(one ^ (other >>> 7))
  other = mixed(other ^ one)
  hashHigh = one >>> 0
  hashLow = other >>> 0
}

function mixed(bits: number): number {
  let mix = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return mix ^ (mix >>> 16)
}
