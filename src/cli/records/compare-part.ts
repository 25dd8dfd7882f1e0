import type { JsonObject } from '../../codec/json-text.ts'
import { movesIn } from '../../contract/lesson-places.ts'
import { type ModuleNames, nextModuleNames } from '../dataset/courses.ts'
import { CommandError } from '../terminal/errors.ts'
import { closingOf, inFreeOrder, isClosed } from './apply-order.ts'
import { type Change, changesOf, isOlder, withTimesOf } from './compare.ts'
import { type Declared, type Entry, isSentWhole, type PartDataset, placeText } from './entries.ts'
import { lessonsIn, membersFor, shownFor, shownIn } from './finder.ts'
import { indexOf, type KnownIds, keyIn, keyText } from './identity.ts'
import { lessonsMatched, type ShownLesson } from './lessons.ts'
import type { Action, LessonPlace, Plan, PlanOptions, Undeclared } from './plan.ts'
import type { Writer } from './write.ts'

export interface Comparing {
  readonly reader: Writer
  readonly declared: Declared
  readonly options: PlanOptions
  readonly ids: KnownIds
  readonly modules: ModuleNames
}

/**
 * Compares the declared records of a part with those of the academy; earlier parts must have been compared.
 *
 * @param removed declared records that must be gone
 */
export async function comparePart(
  comparing: Comparing,
  dataset: PartDataset,
  entries: readonly Entry[],
  removed: readonly Entry[],
): Promise<Comparison> {
  const comparison = new Comparison(comparing, dataset, entries, removed)
  await (dataset.name === 'lessons' ? compareLessons(comparison) : compareRecords(comparison))
  return comparison
}

async function compareRecords(comparison: Comparison): Promise<void> {
  const { entries, removed, dataset } = comparison
  const { reader, options, ids } = comparison.comparing
  const index = indexOf(entries, ids)
  const removedIndex = indexOf(removed, ids)
  /** Users with the e-mail address of an entry that has another external id. */
  const addressed = new Map<Entry, JsonObject>()
  const groups = comparison.listedGroups()
  const records = [...entries, ...removed].map(({ record }) => record)
  const found =
    dataset.name === 'memberships'
      ? membersFor(
          reader,
          dataset,
          new Set([...groups, ...records.map(({ groupId }) => String(groupId))]),
          ids.idOf,
        )
      : shownFor(reader, dataset, records, options.prune && !options.isOfCourses)
  for await (const shown of found) {
    const entry = index.of(shown)
    const other = entry ?? index.byAddress(shown)
    if (entry) await comparison.match(entry, shown)
    else if (other) addressed.set(other, shown)
    else if (removedIndex.of(shown) || groups.has(ids.keyOf('groups', shown['groupId']) ?? '')) {
      await comparison.remove(shown)
    } else if (comparison.isPruned(shown)) await comparison.remove(shown)
  }
  // No user has the external id, so the one with the address is meant.
  const unmatched = new Set(comparison.unmatched())
  for (const [entry, shown] of addressed) {
    if (!unmatched.has(entry)) throw taken(entry, shown)
    await comparison.match(entry, shown)
  }
}

/** Lessons are recognised by title and content too. */
async function compareLessons(comparison: Comparison): Promise<void> {
  const { entries, removed, dataset } = comparison
  const { reader, declared, options, ids } = comparison.comparing
  const index = indexOf(entries, ids)
  const removedIndex = indexOf(removed, ids)
  const records = [...entries, ...removed].map(({ record }) => record)
  const courses = new Set(
    options.isOfCourses
      ? declared.get('courses')?.map(({ key }) => key)
      : entries.map(({ record }) => String(record['courseId'])),
  )
  const inCourses = new Map<string, JsonObject[]>()
  const unnamed: ShownLesson[] = []
  const found =
    options.prune && !options.isOfCourses
      ? shownIn(reader, dataset)
      : lessonsIn(reader, dataset, { courses, records }, ids.idOf)
  for await (const shown of found) {
    const course = ids.keyOf('courses', shown['courseId'])
    const isInCourse = course !== undefined && courses.has(course)
    if (isInCourse) {
      const { id, courseId, order, version } = shown
      const own = inCourses.get(course) ?? []
      own.push({ id, courseId, order, version })
      inCourses.set(course, own)
    }
    const entry = index.of(shown)
    if (entry) await comparison.match(entry, shown)
    else if (removedIndex.of(shown)) await comparison.remove(shown)
    else if (isInCourse) {
      const record = await comparison.recordOf(shown)
      const { externalId = null } = shown
      unnamed.push({ shown, course, record: { ...record, externalId } })
    } else if (comparison.isPruned(shown)) await comparison.remove(shown)
  }
  const matches = lessonsMatched(comparison.unmatched(), unnamed)
  const kept: ShownLesson[] = []
  for (const lesson of unnamed) {
    const entry = matches.get(lesson)
    if (entry) await comparison.match(entry, lesson.shown)
    else if (comparison.isPruned(lesson.shown)) await comparison.remove(lesson.shown)
    else kept.push(lesson)
  }
  comparison.addMoves(inCourses)
  const titles = new Set(entries.map(({ record }) => keyIn('lessons', { ...record, externalId: undefined })))
  for (const { shown, course, record } of kept) {
    const { id, title, externalId } = shown
    const isUnnamed = typeof externalId !== 'string'
    const key = keyIn('lessons', { courseId: course, module: record['module'], title })
    comparison.undeclared.push({
      ...{ course, id: String(id), title: String(title), externalId: isUnnamed ? null : externalId },
      isDuplicate: isUnnamed && titles.has(key),
    })
  }
}

const noChanges: readonly Change[] = []

class Comparison {
  readonly comparing: Comparing
  readonly dataset: PartDataset
  readonly entries: readonly Entry[]
  readonly removed: readonly Entry[]
  readonly #matched = new Set<Entry>()
  readonly #updates = new Map<Entry, Action>()
  readonly kept: Action[] = []
  /** By id, since a record may be found by two of its names. */
  readonly deletes = new Map<unknown, Action>()
  readonly closings = new Map<unknown, Action>()
  readonly undeclared: Undeclared[] = []
  /** Progress and grade records that are newer than declared. */
  newer = 0

  constructor(
    comparing: Comparing,
    dataset: PartDataset,
    entries: readonly Entry[],
    removed: readonly Entry[],
  ) {
    this.comparing = comparing
    this.dataset = dataset
    this.entries = entries
    this.removed = removed
  }

  actions(): Action[] {
    const creations = this.unmatched().map((entry) => this.#creationOf(entry))
    return [...inFreeOrder([...this.#updates.values()]), ...creations]
  }

  unmatched(): Entry[] {
    return this.entries.filter((entry) => !this.#matched.has(entry))
  }

  /** Compares an entry with the record that it declares; one that was compared already is left alone. */
  async match(entry: Entry, shown: JsonObject): Promise<void> {
    if (this.#matched.has(entry)) return
    this.#matched.add(entry)
    const { dataset } = this
    this.comparing.ids.add(dataset.name, shown['id'], entry.key)
    if (dataset.name === 'courses') {
      this.comparing.modules.set(shown['id'], nextModuleNames(entry.record['modules'], shown['modules']))
    }
    if (entry.days) entry.record = withTimesOf(entry.record, entry.days, shown)
    if (isOlder(dataset, entry.record, shown)) {
      this.newer += 1
      return
    }
    if (this.#isProtected(shown)) {
      const { role: _role, status: _status, ...others } = entry.record
      entry.record = others
    }
    const changes = await this.#changesOf(entry, shown)
    if (changes.length > 0) this.#updates.set(entry, updateOf(entry, shown, changes))
    else if (
      isClosed(dataset.name, shown) ||
      (this.comparing.options.isOfCourses && dataset.name === 'courses')
    ) {
      this.kept.push(updateOf(entry, shown, []))
    }
  }

  async #changesOf({ record }: Entry, shown: JsonObject): Promise<Change[]> {
    const { dataset } = this
    const current = await this.recordOf(shown)
    // A lesson without an external id may be declared by its id.
    const isNamed = record['externalId'] === current['externalId']
    const { externalId = null } = shown
    // Places are compared with those of the other lessons.
    const { order, ...others } = record
    const changes = changesOf(
      dataset,
      dataset.name === 'lessons' ? others : record,
      isNamed ? current : { ...current, externalId },
    )
    if (shown['status'] === 'deleted' && record['status'] === undefined) {
      changes.push({ field: 'status', from: 'deleted', to: 'active' })
    }
    return changes
  }

  async recordOf(shown: JsonObject): Promise<JsonObject> {
    const record = { ...(await this.dataset.toRecord(shown, this.comparing.reader.names)) }
    const module = this.comparing.modules.get(shown['courseId'])?.get(shown['moduleId'])
    for (const [field, to] of Object.entries(this.dataset.references)) {
      record[field] = this.comparing.ids.keyOf(to, shown[field] ?? shown[`${field}Id`]) ?? record[field]
    }
    if (module !== undefined) record['module'] = module
    return record
  }

  addMoves(inCourses: ReadonlyMap<string, readonly JsonObject[]>): void {
    const entryById = new Map(
      [...this.#matched].map((entry) => [this.comparing.ids.idOf('lessons', entry.key), entry]),
    )
    for (const [course, places] of declaredPlaces(this.entries, this.comparing.ids)) {
      for (const { id, shown, from, to } of movesIn(places, inCourses.get(course) ?? [])) {
        const entry = entryById.get(id)
        if (!entry) continue
        const { current, changes = [] } = this.#updates.get(entry) ?? {}
        this.#updates.set(
          entry,
          updateOf(entry, current ?? shown, [...changes, { field: 'order', from, to }]),
        )
      }
    }
  }

  isPruned({ managedBy, courseId }: JsonObject): boolean {
    const { prune, label, isOfCourses, keeps = [], courses } = this.comparing.options
    if (!prune || isOfCourses) return prune && this.dataset.name === 'lessons'
    return (
      label !== null &&
      managedBy === label &&
      !keeps.includes(this.dataset.name) &&
      (courses === undefined || courses.includes(this.comparing.ids.keyOf('courses', courseId) ?? ''))
    )
  }

  async remove(shown: JsonObject): Promise<void> {
    const { id, status, courseId } = shown
    if (status === 'deleted' || this.#isProtected(shown)) return
    const { closes = [], label } = this.comparing.options
    const { name } = this.dataset
    const record = await this.recordOf(shown)
    const key = keyIn(name, record) ?? String(id)
    if (!closes.includes(name)) {
      // Nothing can be deleted from an archived course, which only a declared one leaves.
      const mayBeArchived =
        typeof courseId === 'string' && this.comparing.ids.keyOf('courses', courseId) === undefined
      const course =
        closes.length > 0 && mayBeArchived ? await this.comparing.reader.names.course(courseId) : null
      if (course?.['status'] === 'archived') return
      this.deletes.set(id, { dataset: name, kind: 'delete', key, entry: null, current: shown, changes: [] })
      return
    }
    const closing = closingOf(name)
    if (closing === undefined || status === closing) return
    const { externalId, email } = record
    const entry = {
      dataset: name,
      key,
      record: { externalId, ...(email !== undefined && { email }), status: closing },
      place: { file: label ?? 'prune', line: 0 },
    }
    this.closings.set(id, updateOf(entry, shown, [{ field: 'status', from: status ?? null, to: closing }]))
  }

  /** True for a user who keeps the role and status. */
  #isProtected({ role }: JsonObject): boolean {
    const { protectedRole } = this.comparing.options
    return this.dataset.name === 'users' && protectedRole !== undefined && role === protectedRole
  }

  #creationOf(entry: Entry): Action {
    const { label } = this.comparing.options
    const isLabelled = label !== null && !isSentWhole(this.dataset) && entry.record['managedBy'] === undefined
    if (isLabelled) entry.record = { ...entry.record, managedBy: label }
    const { key } = entry
    return { dataset: this.dataset.name, kind: 'create', key, entry, current: null, changes: noChanges }
  }

  /** Keys of groups that have no members but the declared ones; none for other parts. */
  listedGroups(): ReadonlySet<string> {
    const groups = this.dataset.name === 'memberships' ? (this.comparing.declared.get('groups') ?? []) : []
    return new Set(groups.flatMap(({ listsMembers, key }) => (listsMembers ? [key] : [])))
  }
}

export function declaredPlaces(lessons: readonly Entry[], ids: KnownIds): Plan['lessonPlaces'] {
  const places = lessons.flatMap(({ key, record }): (LessonPlace & { readonly course: string })[] => {
    const { courseId, order } = record
    if (typeof order !== 'number') return []
    const id = ids.idOf('lessons', key)
    return [{ course: String(courseId), key: keyIn('lessons', record) ?? key, order, id }]
  })
  return Map.groupBy(places, ({ course }) => course)
}

function updateOf(entry: Entry, current: JsonObject, changes: readonly Change[]): Action {
  return { dataset: entry.dataset, kind: 'update', key: entry.key, entry, current, changes }
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
