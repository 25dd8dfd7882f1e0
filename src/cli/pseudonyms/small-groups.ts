import { hash } from 'node:crypto'
import { formatCount } from '../../codec/display-text.ts'
import { jsonText } from '../../codec/json-text.ts'
import { pluralise } from '../terminal/format-text.ts'
import { BucketSpool } from './bucket-spool.ts'

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

  /** Adds a row by the values of its columns, and returns its group. */
  add(table: GroupedTable, person: string, values: readonly unknown[]): string {
    if (this.#k <= 1 || values.length === 0) return ''
    const index = this.#tables.indexOf(table)
    const group = keyOf(`${index} ${jsonText(values)}`)
    const known = this.#firstPeople.get(group)
    if (known && (known.size >= this.#k || known.has(person))) return group
    this.#spool.add(group, `${index} ${keyOf(person)}`)
    if (known) known.add(person)
    else {
      if (this.#firstPeople.size >= maxCachedGroups) this.#firstPeople.clear()
      this.#firstPeople.set(group, new Set([person]))
    }
    return group
  }

  small(): ReadonlySet<string> {
    const small = new Set<string>()
    for (const { key, people } of this.#groups()) if (people < this.#k) small.add(key)
    return small
  }

  notes(): string[] {
    const found = this.#tables.map((table) => ({ table, groups: 0, smallest: Number.POSITIVE_INFINITY }))
    for (const { index, people } of this.#groups()) {
      const counts = found[index]
      if (!counts || people >= this.#k) continue
      counts.groups += 1
      counts.smallest = Math.min(counts.smallest, people)
    }
    return found.flatMap(({ table, groups, smallest }) => {
      if (groups === 0) return []
      const where = table.name === null ? '' : `${table.name}: `
      return `${where}${this.#groupsText(groups, table)} (the smallest has ${smallest}): they may be recognised by these`
    })
  }

  /** Returns the note about rows that are left out with the groups below k; none if there are none. */
  suppressedNotes(rows: number, groups: number, table: GroupedTable): string[] {
    if (groups === 0) return []
    return [`Left out ${pluralise(rows, 'row')} of ${this.#groupsText(groups, table)}`]
  }

  #groupsText(groups: number, { columns }: GroupedTable): string {
    return `${formatCount(groups)} ${groups === 1 ? 'group' : 'groups'} of fewer than ${this.#k} people with the same ${columns.join(', ')}`
  }

  *#groups(): Generator<{ readonly key: string; readonly index: number; readonly people: number }> {
    for (const entries of this.#spool.sorted()) {
      const people = new Set<string>()
      for (const [place, { key, text }] of entries.entries()) {
        people.add(text)
        if (entries[place + 1]?.key === key) continue
        yield { key, index: Number.parseInt(text, 10), people: people.size }
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
