import { entryOf } from './entries.ts'
import type { RosterEntry } from './roster.ts'
import type { RosterRow } from './row.ts'

/** The course is an external id; null for none. */
type Group = Readonly<Record<'externalId' | 'name', string> & { course: string | null }>

/** Groups with their members, which other rows name. Members of a group that is never added are left out. */
export class Groups {
  readonly #groups = new Map<string, RosterEntry>()
  readonly #members = new Map<string, Set<string>>()

  /** Of several rows about one group, the last counts. */
  add(row: RosterRow, { externalId, name, course }: Group, isRemoved = false): void {
    const more = { name, course: course === null ? null : `ext:${course}` }
    const record = { externalId, ...(!isRemoved && more) }
    this.#groups.set(externalId, entryOf('groups', record, row, isRemoved))
  }

  addMember(group: string, user: string): void {
    const of = this.#members.get(group) ?? new Set<string>()
    this.#members.set(group, of.add(`ext:${user}`))
  }

  has(group: string): boolean {
    return this.#groups.has(group)
  }

  /** Members are in the order of the files. */
  entries(): readonly RosterEntry[] {
    return [...this.#groups].map(([id, entry]) => {
      if (entry.isRemoved) return entry
      return { ...entry, record: { ...entry.record, members: [...(this.#members.get(id) ?? [])] } }
    })
  }
}
