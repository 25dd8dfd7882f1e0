import type { Declared, Entry, Part } from '../records/entries.ts'
import { keyText } from '../records/identity.ts'
import type { Action, Plan } from '../records/plan.ts'

export interface PartCounts {
  readonly roster: number
  readonly platform: number
  /** Records of the roster that the platform has with equal fields. */
  readonly equal: number
  /** Records that the platform should not have any more. */
  readonly extra: number
}

export type RosterCheck = ReturnType<typeof checkOf>

/** Returns the counts of both sides: `actions` are what they differ in. */
export function checkOf(declared: Declared, { actions, leftOut }: Pick<Plan, 'actions' | 'leftOut'>) {
  const byPart = Map.groupBy(actions, ({ dataset }) => dataset)
  const counts = new Map<Part, PartCounts>()
  for (const [part, entries] of declared) {
    const own = byPart.get(part) ?? []
    const wanted = new Set<Entry>(entries.filter(({ isRemoved, lacksPeople }) => !isRemoved && !lacksPeople))
    const created = own.filter(({ kind }) => kind === 'create').length
    const changed = own.filter(({ kind, entry }) => kind === 'update' && entry && wanted.has(entry)).length
    const absent = entries.filter((entry) => leftOut.has(entry)).length
    const platform = wanted.size - created - absent
    counts.set(part, {
      ...{ roster: wanted.size, platform, equal: platform - changed },
      extra: own.length - created - changed,
    })
  }
  return { counts, differences: actions }
}

/** A line for each part: `users: 1,229 of 1,229 equal`. */
export function countLines({ counts }: RosterCheck): string[] {
  const number = (value: number) => value.toLocaleString('en')
  return [...counts].map(([part, { roster, platform, equal, extra }]) => {
    const missing = roster - platform
    const faults = [
      ...(missing > 0 ? [`${number(missing)} missing`] : []),
      ...(platform > equal ? [`${number(platform - equal)} different`] : []),
      ...(extra > 0 ? [`${number(extra)} to remove`] : []),
    ]
    const rest = faults.length > 0 ? `: ${faults.join(', ')}` : ''
    return `${part}: ${number(equal)} of ${number(roster)} equal${rest}`
  })
}

export function differenceDocument({ dataset, kind, key, current, changes }: Action): object {
  return {
    dataset,
    difference: kind === 'create' ? 'missing' : kind === 'delete' ? 'extra' : 'different',
    key: keyText(key),
    id: current?.['id'] ?? null,
    fields: changes,
  }
}
