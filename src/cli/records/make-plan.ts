import type { ModuleNames } from '../dataset/courses.ts'
import { isAboutPeople, type ReferredName, referencesIn, referredNouns } from '../dataset/dataset.ts'
import { externalKeyOf } from '../dataset/names.ts'
import { type Comparing, comparePart, declaredPlaces } from './compare-part.ts'
import {
  countText,
  createProblems,
  type Declared,
  type Entry,
  loadPart,
  nouns,
  type PartDataset,
  type Problems,
  parts,
  recordText,
  withMemberships,
} from './entries.ts'
import { type KnownIds, keyIn, keyText, knownIds } from './identity.ts'
import { type Action, leftOutNotes, type Plan, type PlanOptions, type Undeclared } from './plan.ts'
import type { Writer } from './write.ts'

/** Throws a UsageError on unknown references, unless left out, and a CommandError on changes that cannot be made. */
export async function makePlan(reader: Writer, given: Declared, options: PlanOptions): Promise<Plan> {
  const declared = withMemberships(given)
  const modules: ModuleNames = new Map()
  const ids = knownIds()
  const comparing: Comparing = { reader, declared, options, modules, ids }
  const problems = createProblems()
  const actions: Action[] = []
  const closings: Action[] = []
  const deletes: (readonly Action[])[] = []
  const kept: Action[] = []
  const undeclared: Undeclared[] = []
  const notes: string[] = []
  const unknown = new Map<Entry, readonly string[]>()
  const references = new References(reader, declared, ids)
  let unchanged = 0
  for (const part of parts) {
    const all = declared.get(part)
    if (all === undefined) continue
    const dataset = await loadPart(part)
    await references.lookUp(dataset, all, problems, unknown)
    const lacking = all.filter(({ lacksPeople }) => lacksPeople).length
    if (lacking > 0) {
      notes.push(
        `Left out ${countText(part, lacking)} of people whom neither the source nor the academy shows`,
      )
    }
    const entries = all.filter((entry) => !entry.isRemoved && !entry.lacksPeople && !unknown.has(entry))
    const removed = all.filter(({ isRemoved }) => isRemoved)
    const compared = await comparePart(comparing, dataset, entries, removed)
    const own = compared.actions()
    const { newer } = compared
    unchanged += entries.length - own.length - newer
    // A spread of arguments has a limit.
    for (const action of own) actions.push(action)
    for (const action of compared.closings.values()) closings.push(action)
    for (const action of compared.kept) kept.push(action)
    for (const lesson of compared.undeclared) undeclared.push(lesson)
    deletes.push([...compared.deletes.values()])
    if (newer > 0) {
      notes.push(
        `Kept ${countText(part, newer)} of the academy that ${newer === 1 ? 'is' : 'are'} newer than the files`,
      )
    }
  }
  if (unknown.size > 0 && options.skipsUnknown) notes.push(...leftOutNotes(unknown))
  else {
    for (const [entry, messages] of unknown) {
      for (const message of messages) problems.add(entry.place, message, shownUnknown(entry, message))
    }
  }
  problems.throwIfAny(options.skipsUnknown === false ? skipHint : undefined)
  return {
    // Delete in reverse order, because records refer to earlier parts.
    actions: [...actions, ...closings, ...deletes.toReversed().flat()],
    unchanged,
    notes,
    kept,
    lessonPlaces: touchedPlaces(actions, declared.get('lessons') ?? [], ids),
    undeclared,
    leftOut: new Set(unknown.keys()),
  }
}

const skipHint = 'Add what they refer to, or leave these records out: --skip-invalid'

function shownUnknown({ dataset }: Entry, message: string): string {
  return isAboutPeople({ name: dataset }) ? `a ${nouns[dataset]} refers to an unknown record` : message
}

/** Returns the places of all lessons of courses where one is created or moved, since that shifts the others. */
function touchedPlaces(
  actions: readonly Action[],
  lessons: readonly Entry[],
  ids: KnownIds,
): Plan['lessonPlaces'] {
  const touched = actions.filter(
    ({ dataset, kind, changes }) =>
      dataset === 'lessons' &&
      (kind === 'create' || changes.some(({ field }) => ['order', 'courseId'].includes(field))),
  )
  const courses = new Set(touched.map(({ entry }) => String(entry?.record['courseId'])))
  return new Map([...declaredPlaces(lessons, ids)].filter(([course]) => courses.has(course)))
}

/** Looks up references to undeclared records, each once. */
class References {
  readonly #names: Writer['names']
  readonly #ids: KnownIds
  /** Null for an unknown reference. */
  readonly #keys: Readonly<Record<ReferredName, Map<string, string | null>>>

  constructor({ names }: Writer, declared: Declared, ids: KnownIds) {
    const keysIn = (to: ReferredName) => new Map((declared.get(to) ?? []).map(({ key }) => [key, key]))
    this.#names = names
    this.#ids = ids
    this.#keys = {
      ...{ terms: keysIn('terms'), courses: keysIn('courses') },
      ...{ users: keysIn('users'), groups: keysIn('groups') },
    }
  }

  /**
   * Parts that are referred to must have been compared, so that an id or another name of a declared record is recognised.
   * Adds entries with references that the academy does not have either to `unknown`.
   */
  async lookUp(
    dataset: PartDataset,
    entries: readonly Entry[],
    problems: Problems,
    unknown: Map<Entry, readonly string[]>,
  ): Promise<void> {
    const renamed = new Set<Entry>()
    for (const entry of entries) {
      for (const { field, to, reference } of referencesIn(dataset, entry.record)) {
        const known = this.#keys[to].get(reference)
        const key = known === undefined ? await this.#keyOf(to, reference) : known
        // A removed record may refer to one that was deleted before.
        if (key === null && entry.isRemoved) continue
        if (key === null && to === 'users' && entry.mayLackPeople) entry.lacksPeople = true
        else if (key === null) {
          const message = `${field}: ${nouns[to]} ${reference} is neither declared nor in the academy`
          unknown.set(entry, [...(unknown.get(entry) ?? []), message])
        } else if (key !== reference) {
          entry.record = { ...entry.record, [field]: key }
          renamed.add(entry)
        }
      }
    }
    if (renamed.size === 0) return
    const keys = new Set(entries.filter((entry) => !renamed.has(entry)).map(({ key }) => key))
    for (const entry of renamed) {
      entry.key = keyIn(dataset.name, entry.record) ?? entry.key
      if (keys.has(entry.key)) {
        const message = `${nouns[dataset.name]} ${keyText(entry.key)} is declared twice, by other names`
        problems.add(entry.place, message, `${recordText(entry)} is declared twice, by other names`)
      }
      keys.add(entry.key)
    }
  }

  async #keyOf(to: ReferredName, reference: string): Promise<string | null> {
    const shown = await this.#names[referredNouns[to]](reference)
    // Terms are compared by their keys, other records by their ids.
    const own = shown && to === 'terms' ? keyIn(to, { externalId: externalKeyOf(shown) }) : reference
    const key = shown && (this.#ids.keyOf(to, shown['id']) ?? own)
    this.#keys[to].set(reference, key)
    if (shown && key !== null) this.#ids.add(to, shown['id'], key)
    return key
  }
}
