import type { JsonObject } from '../../codec/json-text.ts'
import { movesIn } from '../../contract/lesson-places.ts'
import { type ModuleNames, nextModuleNames } from '../dataset/module-names.ts'
import { CommandError } from '../terminal/errors.ts'
import { closingOf, inFreeOrder, isClosed } from './apply-order.ts'
import { type Change, changesOf, isOlder, withTimesOf } from './compare.ts'
import {
  countText,
  createProblems,
  type Declared,
  type Entry,
  isSet,
  loadPart,
  lookUpReferences,
  nothingLookedUp,
  type Part,
  type PartDataset,
  parts,
  placeText,
  withMemberships,
} from './entries.ts'
import { membersFor, shownFor } from './finder.ts'
import { indexOf, type KnownIds, keyIn, keyText, knownIds } from './identity.ts'
import { declaredPlaces, touchedPlaces } from './lesson-places.ts'
import { keyedLesson, lessonsMatched, type ShownLesson } from './lessons.ts'
import { type Action, leftOutNotes, type Plan, type Undeclared } from './plan.ts'
import type { Writer } from './write.ts'

export interface PlanOptions {
  /** Label of new records (`managedBy`); null for none. */
  readonly label: string | null
  /** Removes labelled records that are not declared, in the parts that the files have. */
  readonly prune: boolean
  /** Parts whose removed records are closed: users suspended, courses archived. Others are deleted. */
  readonly closes?: readonly Part[]
  /** Parts in which `prune` removes nothing, such as those of which the files have only the changes. */
  readonly keeps?: readonly Part[]
  /** Users with this role keep their role and status, and are not removed. */
  readonly protectedRole?: string
  /** Keys of the only courses in which `prune` removes records; by default it removes them everywhere. */
  readonly courses?: readonly string[]
  /** Leaves out records that refer to unknown ones, with a note, instead of refusing all. */
  readonly skipsUnknown?: boolean
}

/**
 * Compares the declared records with the academy. Throws a UsageError on unknown references, unless these are left
 * out, and a CommandError on changes that cannot be made.
 *
 * @param savedPlaces places of lessons in a saved plan, which has only those that change
 */
export async function makePlan(
  reader: Writer,
  given: Declared,
  options: PlanOptions,
  savedPlaces: Plan['lessonPlaces'] | null = null,
): Promise<Plan> {
  const declared = withMemberships(given)
  const groups = declared.get('groups') ?? []
  const listed = new Set(groups.flatMap(({ listsMembers, key }) => (listsMembers ? [key] : [])))
  const ids = knownIds()
  const modules: ModuleNames = new Map()
  const actions: Action[] = []
  const deletes: (readonly Action[])[] = []
  const notes: string[] = []
  const closed: Action[] = []
  const undeclared: Undeclared[] = []
  const removals: Action[] = []
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
    const entries = all.filter((entry) => !entry.isRemoved && !entry.lacksPeople && !leftOut.has(entry))
    const lacking = all.filter(({ lacksPeople }) => lacksPeople).length
    if (lacking > 0) {
      notes.push(
        `Left out ${countText(part, lacking)} of people whom neither the source nor the academy shows`,
      )
    }
    const removed = all.filter(({ isRemoved }) => isRemoved)
    const found = await compareAll(reader, dataset, entries, {
      ...options,
      ...{ ids, modules, closed, undeclared, savedPlaces, removed, listed },
    })
    unchanged += entries.length - found.actions.length - found.newer
    for (const action of found.actions) actions.push(action)
    deletes.push(found.deletes)
    for (const action of found.closings) removals.push(action)
    if (found.newer > 0) {
      notes.push(
        `Kept ${countText(part, found.newer)} of the academy that ${found.newer === 1 ? 'is' : 'are'} newer than the files`,
      )
    }
  }
  if (leftOut.size > 0) notes.push(...leftOutNotes(leftOut))
  // Delete in reverse order, because records refer to earlier parts.
  return {
    actions: [...actions, ...removals, ...deletes.toReversed().flat()],
    unchanged,
    notes,
    closed,
    lessonPlaces: savedPlaces ?? touchedPlaces(actions, declared.get('lessons') ?? [], ids),
    undeclared,
    leftOut: new Set(leftOut.keys()),
  }
}

const skipHint = 'Add what they refer to, or leave these records out: --skip-invalid'

interface Found {
  readonly actions: readonly Action[]
  readonly deletes: readonly Action[]
  /** Updates that close records instead of deleting them. */
  readonly closings: readonly Action[]
  /** Number of progress and grade records that are newer than declared. */
  readonly newer: number
}

async function compareAll(
  reader: Writer,
  dataset: PartDataset,
  entries: readonly Entry[],
  {
    ids,
    label,
    prune,
    closes = [],
    keeps = [],
    protectedRole,
    courses: onlyIn,
    modules,
    closed,
    undeclared,
    savedPlaces,
    removed,
    listed,
  }: PlanOptions & {
    /** Keys of groups that have no members but the declared ones. */
    readonly listed: ReadonlySet<string>
    /** Entries of records that must be gone. */
    readonly removed: readonly Entry[]
    readonly ids: KnownIds
    readonly modules: ModuleNames
    readonly closed: Action[]
    readonly undeclared: Undeclared[]
    readonly savedPlaces: Plan['lessonPlaces'] | null
  },
): Promise<Found> {
  const references = Object.entries(dataset.references)
  const index = indexOf(entries, ids)
  const removedIndex = indexOf(removed, ids)
  const matched = new Set<Entry>()
  /** Users with the e-mail address of an entry that has another external id. */
  const addressed = new Map<Entry, JsonObject>()
  const updates = new Map<Entry, Action>()
  const deletes = new Map<unknown, Action>()
  const closings = new Map<unknown, Action>()
  let newer = 0

  async function match(entry: Entry, shown: JsonObject): Promise<void> {
    if (matched.has(entry)) return
    matched.add(entry)
    ids.add(dataset.name, shown['id'], entry.key)
    if (dataset.name === 'courses') {
      modules.set(shown['id'], nextModuleNames(entry.record['modules'], shown['modules']))
    }
    if (entry.days) entry.record = withTimesOf(entry.record, entry.days, shown)
    if (isOlder(dataset, entry.record, shown)) {
      newer += 1
      return
    }
    if (isProtected(shown)) {
      const { role: _role, status: _status, ...kept } = entry.record
      entry.record = kept
    }
    const current = await recordOf(shown)
    // A lesson without an external id may be declared by its id.
    const isNamed = entry.record['externalId'] === current['externalId']
    const { externalId = null } = shown
    // Places are compared with those of the other lessons.
    const { order, ...others } = entry.record
    const record = dataset.name === 'lessons' ? others : entry.record
    const changes = changesOf(dataset, record, isNamed ? current : { ...current, externalId })
    if (shown['status'] === 'deleted' && entry.record['status'] === undefined) {
      changes.push({ field: 'status', from: 'deleted', to: 'active' })
    }
    if (changes.length > 0) updates.set(entry, updateOf(entry, shown, changes))
    else if (isClosed(dataset.name, shown)) closed.push(updateOf(entry, shown, []))
  }

  function isProtected({ role }: JsonObject): boolean {
    return dataset.name === 'users' && protectedRole !== undefined && role === protectedRole
  }

  async function recordOf(shown: JsonObject): Promise<JsonObject> {
    const record = { ...(await dataset.toRecord(shown, reader.names)) }
    const module = modules.get(shown['courseId'])?.get(shown['moduleId'])
    for (const [field, to] of references) {
      record[field] = ids.keyOf(to, shown[field] ?? shown[`${field}Id`]) ?? record[field]
    }
    if (module !== undefined) record['module'] = module
    return record
  }

  function addMoves(): void {
    const entryById = new Map([...matched].map((entry) => [ids.idOf('lessons', entry.key), entry]))
    for (const [course, places] of savedPlaces ?? declaredPlaces(entries, ids)) {
      for (const { id, shown, to } of movesIn(places, [...(lessons.get(course)?.values() ?? [])])) {
        const entry = entryById.get(id)
        if (!entry) continue
        const { current = shown, changes = [] } = updates.get(entry) ?? {}
        const move = { field: 'order', from: shown['order'] ?? null, to }
        updates.set(entry, updateOf(entry, current ?? shown, [...changes, move]))
      }
    }
  }

  const courses = new Set(dataset.name === 'lessons' ? entries.map(({ record }) => record['courseId']) : [])
  // A platform may list a record twice.
  const unnamed = new Map<unknown, ShownLesson>()
  /** Existing lessons by course and id, without their content. */
  const lessons = new Map<string, Map<string, JsonObject>>()
  const others: JsonObject[] = []
  const seen = new Set<unknown>()
  const leave = async (shown: JsonObject) => {
    if (prune && label !== null && shown['managedBy'] === label && isInScope(shown)) {
      await remove(shown)
      return
    }
    const course = ids.keyOf('courses', shown['courseId'])
    // A platform may list a record twice.
    if (course === undefined || !courses.has(course) || seen.has(shown['id'])) return
    seen.add(shown['id'])
    others.push(shown)
  }

  const isInScope = ({ courseId }: JsonObject) =>
    !keeps.includes(dataset.name) &&
    (onlyIn === undefined || onlyIn.includes(ids.keyOf('courses', courseId) ?? ''))

  async function remove(shown: JsonObject): Promise<void> {
    const { id, status, courseId } = shown
    if (status === 'deleted' || isProtected(shown)) return
    const record = await recordOf(shown)
    const action = deleteOf(dataset, record, shown)
    if (!closes.includes(dataset.name)) {
      // Nothing can be deleted from an archived course, which only a declared one leaves.
      const mayBeArchived = typeof courseId === 'string' && ids.keyOf('courses', courseId) === undefined
      const course = closes.length > 0 && mayBeArchived ? await reader.names.course(courseId) : null
      if (course?.['status'] !== 'archived') deletes.set(id, action)
      return
    }
    const closing = closingOf(dataset.name)
    if (closing === undefined || status === closing) return
    const { externalId, email } = record
    const entry = {
      dataset: dataset.name,
      key: action.key,
      record: { externalId, ...(email !== undefined && { email }), status: closing },
      place: { file: label ?? 'prune', line: 0 },
    }
    closings.set(id, updateOf(entry, shown, [{ field: 'status', from: status ?? null, to: closing }]))
  }

  const isUnlisted = ({ groupId }: JsonObject) =>
    dataset.name === 'memberships' && listed.has(ids.keyOf('groups', groupId) ?? '')

  const records = [...entries, ...removed].map(({ record }) => record)
  const groups = new Set([...listed, ...records.map(({ groupId }) => String(groupId))])
  const found =
    dataset.name === 'memberships'
      ? membersFor(reader, dataset, [...groups], ids.idOf)
      : shownFor(reader, dataset, records, { whole: prune, idOf: ids.idOf })
  for await (const shown of found) {
    if (prune && !isSet(dataset) && shown['managedBy'] === undefined) throw unlabelled(dataset)
    const course = ids.keyOf('courses', shown['courseId'])
    if (course !== undefined && courses.has(course)) {
      const { id, courseId, order, version } = shown
      const own = lessons.get(course) ?? new Map<string, JsonObject>()
      lessons.set(course, own.set(String(id), { id, courseId, order, version }))
    }
    const entry = index.of(shown)
    if (entry) {
      await match(entry, shown)
      continue
    }
    const other = index.byAddress(shown)
    if (other) addressed.set(other, shown)
    else if (removedIndex.of(shown) || isUnlisted(shown)) await remove(shown)
    else if (course !== undefined && courses.has(course)) {
      const record = await recordOf(shown)
      const { externalId = null, id } = shown
      const keyed = keyedLesson({ ...record, externalId }, record['module'] ?? null)
      unnamed.set(id, { shown, course, ...keyed })
    } else await leave(shown)
  }
  const matches = lessonsMatched(
    entries.filter((entry) => !matched.has(entry)),
    [...unnamed.values()],
  )
  const titles = new Set(
    dataset.name === 'lessons'
      ? entries.map(({ record }) => keyIn(dataset.name, { ...record, externalId: undefined }))
      : [],
  )
  const duplicates = new Set<unknown>()
  for (const lesson of unnamed.values()) {
    const entry = matches.get(lesson)
    if (entry) await match(entry, lesson.shown)
    else {
      const { course: courseId, moduleId: module, shown } = lesson
      const isUnnamed = typeof shown['externalId'] !== 'string'
      const key = keyIn('lessons', { courseId, module, title: shown['title'] })
      if (isUnnamed && titles.has(key)) duplicates.add(shown['id'])
      await leave(shown)
    }
  }
  for (const { id, courseId, title } of others) {
    undeclared.push({
      course: ids.keyOf('courses', courseId) ?? String(courseId),
      id: String(id),
      title: String(title),
      isDuplicate: duplicates.has(id),
    })
  }
  // No user has the external id, so the one with the address is meant.
  for (const [entry, shown] of addressed) {
    if (matched.has(entry)) throw taken(entry, shown)
    await match(entry, shown)
  }

  if (dataset.name === 'lessons') addMoves()
  const creates = entries
    .filter((entry) => !matched.has(entry))
    .map((entry): Action => {
      const marked = label !== null && !isSet(dataset) && entry.record['managedBy'] === undefined
      const labelled = marked ? { ...entry, record: { ...entry.record, managedBy: label } } : entry
      return {
        dataset: dataset.name,
        kind: 'create',
        key: entry.key,
        entry: labelled,
        current: null,
        changes: [],
      }
    })
  return {
    actions: [...inFreeOrder([...updates.values()]), ...creates],
    deletes: [...deletes.values()],
    closings: [...closings.values()],
    newer,
  }
}

function unlabelled({ name }: PartDataset): CommandError {
  return new CommandError('not_offered', 'failure', `Cannot prune: the platform does not label ${name}`, {
    why: ['Its records have no managedBy, which says what apply has created; nothing was changed'],
    hint: 'Apply without --prune',
  })
}

function taken({ key, record, place }: Entry, shown: JsonObject): CommandError {
  return new CommandError(
    'taken',
    'conflict',
    `Cannot give user ${keyText(key)} the e-mail address ${record['email']}`,
    {
      why: [
        `${placeText(place)}: user ${shown['externalId'] ?? shown['id']} (${shown['status']}) has it, and is not declared`,
      ],
      hint: 'Declare that user with another address, or change it with `learnctl users update`',
    },
  )
}

function updateOf(entry: Entry, current: JsonObject, changes: readonly Change[]): Action {
  return { dataset: entry.dataset, kind: 'update', key: entry.key, entry, current, changes }
}

function deleteOf({ name }: PartDataset, record: JsonObject, current: JsonObject): Action {
  const key = keyIn(name, record) ?? String(current['id'])
  return { dataset: name, kind: 'delete', key, entry: null, current, changes: [] }
}
