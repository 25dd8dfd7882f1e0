import { hash } from 'node:crypto'
import { formatCount } from '../../codec/display-text.ts'
import { jsonText } from '../../codec/json-text.ts'
import { BucketSpool } from './bucket-spool.ts'

/** Least people of a group, unless another number is given. */
export const defaultK = 5

/** A table whose rows are grouped. */
export interface GroupedTable {
  /** Null for the only table of a file. */
  readonly name: string | null
  /** Columns that people could be recognised by. */
  readonly columns: readonly string[]
}

/** Groups in memory; each has at most k people. */
const maxCachedGroups = 20_000

/**
 * Counts the people in each group of rows of a table with equal values, in bounded memory: a person in a group of fewer than k may be
 * recognised by these values (k-anonymity, Samarati and Sweeney 1998).
 */
export class SmallGroups {
  readonly #k: number
  readonly #tables: readonly GroupedTable[]
  readonly #spool = new BucketSpool()
  /** The first k people of groups, which are in the spool: further people of these groups change nothing. */
  readonly #firstPeople = new Map<string, Set<string>>()

  constructor(k: number, tables: readonly GroupedTable[]) {
    this.#k = k
    this.#tables = tables
  }

  /** Adds a row by the values of its columns. */
  add(table: GroupedTable, person: string, values: readonly unknown[]): void {
    if (this.#k <= 1 || values.length === 0) return
    const index = this.#tables.indexOf(table)
    const group = keyOf(`${index} ${jsonText(values)}`)
    const known = this.#firstPeople.get(group)
    if (known && (known.size >= this.#k || known.has(person))) return
    this.#spool.add(group, `${index} ${keyOf(person)}`)
    if (known) known.add(person)
    else {
      if (this.#firstPeople.size >= maxCachedGroups) this.#firstPeople.clear()
      this.#firstPeople.set(group, new Set([person]))
    }
  }

  /** Returns a note for each table that has groups below k. */
  notes(): string[] {
    const found = this.#tables.map((table) => ({ table, groups: 0, smallest: Number.POSITIVE_INFINITY }))
    for (const { index, people } of this.#groups()) {
      const counts = found[index]
      if (!counts || people >= this.#k) continue
      counts.groups += 1
      counts.smallest = Math.min(counts.smallest, people)
    }
    return found.flatMap(({ table: { name, columns }, groups, smallest }) => {
      if (groups === 0) return []
      const where = name === null ? '' : `${name}: `
      return `${where}${formatCount(groups)} ${groups === 1 ? 'group' : 'groups'} of fewer than ${this.#k} people with the same ${columns.join(', ')} (the smallest has ${smallest}): they may be recognised by these`
    })
  }

  *#groups(): Generator<{ readonly index: number; readonly people: number }> {
    for (const entries of this.#spool.sorted()) {
      const people = new Set<string>()
      for (const [place, { key, text }] of entries.entries()) {
        people.add(text)
        if (entries[place + 1]?.key === key) continue
        yield { index: Number.parseInt(text, 10), people: people.size }
        people.clear()
      }
    }
  }

  remove(): void {
    this.#firstPeople.clear()
    this.#spool.remove()
  }
}

/** Returns 80 bits of a hash in the digits that the keys of a spool have. */
function keyOf(text: string): string {
  const digest = hash('sha256', text, 'buffer')
  let key = ''
  for (let index = 0; index < 16; index += 1) key += digits.charAt((digest[index] ?? 0) & 31)
  return key
}

const digits = 'abcdefghijklmnopqrstuvwxyz234567'
