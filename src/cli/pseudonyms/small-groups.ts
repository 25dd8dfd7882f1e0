import { createHash } from 'node:crypto'
import { formatCount } from '../../codec/display-text.ts'
import { jsonText } from '../../codec/json-text.ts'
import { BucketSpool } from './bucket-spool.ts'

/** Least people of a group, unless another number is given. */
export const defaultK = 5

/**
 * Counts the people in each group of rows with equal values, in bounded memory: a person in a group of fewer than k may be
 * recognised by these values (k-anonymity, Samarati and Sweeney 1998).
 */
export class SmallGroups {
  readonly #k: number
  readonly #columns: readonly string[]
  readonly #spool = new BucketSpool()

  constructor(k: number, columns: readonly string[]) {
    this.#k = k
    this.#columns = columns
  }

  add(person: string, values: readonly unknown[]): void {
    if (this.#k > 1 && values.length > 0) this.#spool.add(keyOf(jsonText(values)), keyOf(person))
  }

  /** Returns a note about groups below k; null without any. */
  note(): string | null {
    let [groups, smallest] = [0, Number.POSITIVE_INFINITY]
    for (const size of this.#sizes()) {
      if (size >= this.#k) continue
      groups += 1
      smallest = Math.min(smallest, size)
    }
    if (groups === 0) return null
    const one = groups === 1
    return `${formatCount(groups)} ${one ? 'group' : 'groups'} of fewer than ${this.#k} people with the same ${this.#columns.join(', ')} (the smallest has ${smallest}): they may be recognised by these`
  }

  *#sizes(): Generator<number> {
    for (const entries of this.#spool.sorted()) {
      const people = new Set<string>()
      for (const [index, { key, text }] of entries.entries()) {
        people.add(text)
        if (entries[index + 1]?.key === key) continue
        yield people.size
        people.clear()
      }
    }
  }

  remove(): void {
    this.#spool.remove()
  }
}

/** Returns 80 bits of a hash in the digits that the keys of a spool have. */
function keyOf(text: string): string {
  const digest = createHash('sha256').update(text).digest()
  return Array.from(digest.subarray(0, 16), (byte) =>
    'abcdefghijklmnopqrstuvwxyz234567'.charAt(byte & 31),
  ).join('')
}
