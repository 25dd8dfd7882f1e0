import { users } from '../dataset/users.ts'
import { keyAmongEquals, keyText, valueName } from '../records/identity.ts'
import { type Declared, type Entry, nouns, placeText } from './entry.ts'
import type { Problems } from './problems.ts'

/**
 * Merges entries: progress entries with one key become the steps of one record, sorted by time. Any other duplicate
 * is a problem, and so is a record without a key.
 */
export function distinct(declared: Declared, problems: Problems): Declared {
  return new Map(
    [...declared].map(([dataset, entries]) => {
      if (dataset === 'progress') return [dataset, joined(entries)]
      if (dataset === 'lessons') numberEquals(entries)
      const seen = new Map<string, Entry>()
      for (const entry of entries) {
        for (const name of namesOf(entry)) {
          const before = seen.get(name)
          if (before) {
            problems.add(
              entry.place,
              `${nouns[dataset]} ${keyText(name)} is declared twice; first in ${placeText(before.place)}`,
            )
          } else seen.set(name, entry)
        }
        if (entry.record['status'] === 'deleted') {
          problems.add(
            entry.place,
            `${nouns[dataset]} ${keyText(entry.key)} cannot be declared as deleted; leave it out`,
          )
        }
      }
      return [dataset, entries]
    }),
  )
}

/** Numbers lessons that have the same module and title and no external ids. */
function numberEquals(entries: readonly Entry[]): void {
  const counts = new Map<string, number>()
  for (const entry of entries) {
    if (entry.record['externalId'] !== undefined) continue
    const place = (counts.get(entry.key) ?? 0) + 1
    counts.set(entry.key, place)
    entry.key = keyAmongEquals(entry.key, place)
  }
}

function namesOf({ dataset, key, record }: Entry): string[] {
  const others = (dataset === 'users' ? (users.unique ?? []) : []).flatMap((field) => {
    const value = record[field]
    return typeof value === 'string' ? [valueName(field, value)] : []
  })
  return [...new Set([key, ...others])]
}

function joined(entries: readonly Entry[]): Entry[] {
  const steps = new Map<string, Entry[]>()
  for (const entry of entries) {
    const before = steps.get(entry.key)
    if (before) before.push(entry)
    else steps.set(entry.key, [entry])
  }
  return [...steps.values()].map((all) => {
    const ordered = all.toSorted((one, other) => timeOf(one) - timeOf(other))
    const last = ordered.at(-1) ?? all[0]
    if (!last) throw new TypeError('no steps')
    return ordered.length === 1 ? last : { ...last, steps: ordered.map(({ record }) => record) }
  })
}

/** Returns the time of a step; a step without one counts as now. */
function timeOf({ record: { lastAccessed } }: Entry): number {
  return typeof lastAccessed === 'string' ? Date.parse(lastAccessed) : Number.MAX_SAFE_INTEGER
}
