import { NotOfferedError } from '../../client/errors.ts'
import { findShown } from '../dataset/find.ts'
import { changeText, namedChanges } from '../operation/named-changes.ts'
import { type Declared, type Entry, loadPart, nouns, type Part } from '../records/entries.ts'
import type { Writing } from '../records/execute.ts'
import { shownIn } from '../records/finder.ts'
import { keyText } from '../records/identity.ts'
import type { Action, Plan } from '../records/plan.ts'
import { capitalise } from '../terminal/format-text.ts'

/** Counts of one part of a roster on both sides. */
export interface PartCounts {
  readonly roster: number
  readonly platform: number
  /** Records of the roster that the platform has with equal fields. */
  readonly equal: number
  /** Records that the platform should not have any more. */
  readonly extra: number
}

/** Result of comparing a roster with a platform. */
export interface RosterCheck {
  readonly counts: ReadonlyMap<Part, PartCounts>
  readonly differences: readonly Action[]
  /** Parts that cannot be compared, because the platform does not show their records. */
  readonly notCompared: readonly Part[]
}

/** Returns the counts of a comparison that was just made. */
export function checkOf(
  declared: Declared,
  { actions, leftOut }: Plan,
  notCompared: readonly Part[],
): RosterCheck {
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
  return { counts, differences: actions, notCompared }
}

/** True if both sides were compared and are equal. */
export function isEqual({ differences, notCompared }: RosterCheck): boolean {
  return differences.length === 0 && notCompared.length === 0
}

/** Returns the counts in words, a line for each part: `users: 1,229 of 1,229 equal`. */
export function countLines({ counts, notCompared }: RosterCheck): string[] {
  const number = (value: number) => value.toLocaleString('en')
  const compared = [...counts].map(([part, { roster, platform, equal, extra }]) => {
    const missing = roster - platform
    const faults = [
      ...(missing > 0 ? [`${number(missing)} missing`] : []),
      ...(platform > equal ? [`${number(platform - equal)} different`] : []),
      ...(extra > 0 ? [`${number(extra)} to remove`] : []),
    ]
    const rest = faults.length > 0 ? `: ${faults.join(', ')}` : ''
    return `${part}: ${number(equal)} of ${number(roster)} equal${rest}`
  })
  return [...compared, ...notCompared.map((part) => `${part}: not compared, the platform does not list them`)]
}

/** Returns a difference in words: `Enrolment ext:BIO, ext:5, learner: missing`. */
export function differenceText({ dataset, kind, key, changes }: Action): string {
  const name = capitalise(`${nouns[dataset]} ${keyText(key)}`)
  if (kind === 'create') return `${name}: missing`
  if (kind === 'delete') return `${name}: still there`
  const texts = changes.flatMap(({ field, from, to }) => namedChanges(field, from, to).map(changeText))
  return `${name}: ${texts.join(', ')}`
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

/** Records that can be compared with a platform. */
export interface Comparable {
  readonly declared: Declared
  /** Parts that the platform does not show: creating their records could create them twice. */
  readonly hidden: readonly Part[]
}

/** Leaves out parts that the platform does not show, and records that refer to them. */
export async function comparableParts(reader: Writing, declared: Declared): Promise<Comparable> {
  const hidden: Part[] = []
  const shown = new Map<Part, readonly Entry[]>()
  for (const [part, entries] of declared) {
    const [first] = entries
    const { references } = await loadPart(part)
    const lost = Object.keys(references).filter((field) => hidden.some((name) => name === references[field]))
    // A course may be without its term; no other record may lack the record that it refers to.
    const needs = lost.filter((field) => field !== 'term')
    if (first && (needs.length > 0 || !(await isShown(reader, first)))) hidden.push(part)
    else shown.set(part, lost.length > 0 ? entries.map((entry) => withoutFields(entry, lost)) : entries)
  }
  return { declared: shown, hidden }
}

function withoutFields(entry: Entry, fields: readonly string[]): Entry {
  const kept = Object.entries(entry.record).filter(([field]) => !fields.includes(field))
  return { ...entry, record: Object.fromEntries(kept) }
}

async function isShown(reader: Writing, { dataset: part, record }: Entry): Promise<boolean> {
  const dataset = await loadPart(part)
  try {
    for await (const _ of shownIn(reader, dataset, { limit: '1' })) break
    return true
  } catch (error) {
    if (!(error instanceof NotOfferedError)) throw error
  }
  try {
    await findShown(reader.caller, dataset, record, reader.signal)
    return true
  } catch (error) {
    if (error instanceof NotOfferedError) return false
    throw error
  }
}
