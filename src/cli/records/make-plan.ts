import type { ModuleNames } from '../dataset/module-names.ts'
import { type Comparing, comparePart } from './compare-part.ts'
import {
  countText,
  createProblems,
  type Declared,
  type Entry,
  loadPart,
  lookUpReferences,
  nothingLookedUp,
  parts,
  withMemberships,
} from './entries.ts'
import { knownIds } from './identity.ts'
import { touchedPlaces } from './lesson-places.ts'
import { type Action, leftOutNotes, type Plan, type PlanOptions, type Undeclared } from './plan.ts'
import type { Writer } from './write.ts'

/**
 * Compares the declared records with the academy. Throws a UsageError on unknown references, unless these are left
 * out, and a CommandError on changes that cannot be made.
 */
export async function makePlan(reader: Writer, given: Declared, options: PlanOptions): Promise<Plan> {
  const declared = withMemberships(given)
  const modules: ModuleNames = new Map()
  const comparing: Comparing = { reader, declared, options, modules, ids: knownIds() }
  const { ids } = comparing
  const actions: Action[] = []
  const closings: Action[] = []
  const deletes: (readonly Action[])[] = []
  const kept: Action[] = []
  const undeclared: Undeclared[] = []
  const notes: string[] = []
  const leftOut = new Map<Entry, string>()
  let unchanged = 0
  const known = nothingLookedUp(declared)
  for (const part of parts) {
    const all = declared.get(part)
    if (all === undefined) continue
    const dataset = await loadPart(part)
    if (Object.keys(dataset.references).length > 0 && !known.parts.has(part)) {
      const problems = createProblems()
      const onUnknown = options.skipsUnknown ? leftOut.set.bind(leftOut) : undefined
      await lookUpReferences(reader, declared, part, { ids, known, problems, onUnknown })
      problems.throwIfAny(options.skipsUnknown === false ? skipHint : undefined)
    }
    const lacking = all.filter(({ lacksPeople }) => lacksPeople).length
    if (lacking > 0) {
      notes.push(
        `Left out ${countText(part, lacking)} of people whom neither the source nor the academy shows`,
      )
    }
    const entries = all.filter((entry) => !entry.isRemoved && !entry.lacksPeople && !leftOut.has(entry))
    const removed = all.filter(({ isRemoved }) => isRemoved)
    const found = await comparePart(comparing, dataset, { entries, removed })
    const own = [...found.updates, ...found.creates]
    unchanged += entries.length - own.length - found.newer
    // A spread of arguments has a limit.
    for (const action of own) actions.push(action)
    for (const action of found.closings) closings.push(action)
    for (const action of found.kept) kept.push(action)
    for (const lesson of found.undeclared) undeclared.push(lesson)
    deletes.push(found.deletes)
    if (found.newer > 0) {
      notes.push(
        `Kept ${countText(part, found.newer)} of the academy that ${found.newer === 1 ? 'is' : 'are'} newer than the files`,
      )
    }
  }
  if (leftOut.size > 0) notes.push(...leftOutNotes(leftOut))
  return {
    // Delete in reverse order, because records refer to earlier parts.
    actions: [...actions, ...closings, ...deletes.toReversed().flat()],
    unchanged,
    notes,
    kept,
    lessonPlaces: touchedPlaces(actions, declared.get('lessons') ?? [], ids),
    undeclared,
    leftOut: new Set(leftOut.keys()),
  }
}

const skipHint = 'Add what they refer to, or leave these records out: --skip-invalid'
