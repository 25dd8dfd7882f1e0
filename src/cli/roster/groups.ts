import { entryOf } from './entries.ts'
import type { RosterEntry } from './roster.ts'
import type { RosterRow } from './row.ts'

/** The course is an external id. */
export interface RosterGroup {
  readonly externalId: string
  readonly name: string
  /** Null for none. */
  readonly course: string | null
}

/** Groups with their members, which other rows name. */
export interface Groups {
  /** Of several rows about one group, the last counts. */
  add(row: RosterRow, group: RosterGroup, isRemoved?: boolean): void
  addMember(group: string, user: string): void
  has(group: string): boolean
  /** Members are in the order of the files. */
  entries(): readonly RosterEntry[]
}

/** Members of a group that is never added are left out. */
export function createGroups(): Groups {
  const groups = new Map<string, RosterEntry>()
  const members = new Map<string, Set<string>>()
  return {
    add(row, { externalId, name, course }, isRemoved = false) {
      const more = { name, course: course === null ? null : `ext:${course}` }
      groups.set(externalId, entryOf('groups', { externalId, ...(!isRemoved && more) }, row, isRemoved))
    },
    addMember(group, user) {
      const of = members.get(group)
      if (of) of.add(`ext:${user}`)
      else members.set(group, new Set([`ext:${user}`]))
    },
    has: (group) => groups.has(group),
    entries: () =>
      [...groups].map(([id, entry]) =>
        entry.isRemoved
          ? entry
          : { ...entry, record: { ...entry.record, members: [...(members.get(id) ?? [])] } },
      ),
  }
}
