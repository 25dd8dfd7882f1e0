import type { JsonObject } from '../../codec/json-text.ts'
import { users } from '../dataset/users.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Change } from './compare.ts'
import { type Part, placeText } from './entries.ts'
import { courseIn, keyText, valueName } from './identity.ts'
import type { Action, Plan } from './plan.ts'

/** Writes of one record, in the order of their stages. */
interface Stages {
  /** Sent before any write to the records that it closes; null for none. */
  readonly opening: JsonObject | null
  /** The declared record without the changes that would close it too early. */
  readonly record: JsonObject
  /** Sent after the lessons, so that learners never see half a course; null for none. */
  readonly publishing: JsonObject | null
  /** Sent after everything else; null for none. */
  readonly closing: JsonObject | null
}

/** Keys of records that other writes of a plan need open, such as the course and the user of an enrolment. */
export interface Busy {
  readonly courses: ReadonlySet<string>
  readonly lessons: ReadonlySet<string>
  /** Courses with progress writes, and enrolments with progress or grade writes. */
  readonly progress: ReadonlySet<string>
  readonly users: ReadonlySet<string>
}

const closedStatus = { users: 'suspended', courses: 'archived', enrollments: 'inactive' } as const
const openStatus = { users: 'active', courses: 'published', enrollments: 'active' } as const

/** True for a record whose status refuses writes that refer to it. */
export function isClosed(dataset: Part, { status }: JsonObject): boolean {
  return dataset in closedStatus && status === closingOf(dataset)
}

/** Returns the status that closes a record of a part; undefined if it has none. */
export function closingOf(dataset: Part): string | undefined {
  return dataset in closedStatus ? closedStatus[dataset as keyof typeof closedStatus] : undefined
}

/** Collects the records that a plan writes to. */
export function busyIn({ actions }: Plan): Busy {
  const courses = new Set<string>()
  const lessons = new Set<string>()
  const progress = new Set<string>()
  const users = new Set<string>()
  for (const { dataset, entry, current, key } of actions) {
    const record = entry?.record ?? current ?? {}
    const course = entry ? String(record['courseId']) : courseIn(key)
    if (!['terms', 'users', 'courses', 'groups', 'memberships'].includes(dataset)) courses.add(course)
    if (dataset === 'lessons') lessons.add(course)
    if (dataset === 'enrollments') users.add(String(record['userId']))
    if (dataset !== 'progress' && dataset !== 'grades') continue
    const learner = String(record['learnerId'])
    progress.add([course, learner, 'learner'].join('\n'))
    // Grades do not require progress tracking.
    if (dataset === 'progress') progress.add(course)
    users.add(learner)
  }
  return { courses, lessons, progress, users }
}

/**
 * Returns the stages of an action. An archived course takes no lessons, enrolments or progress; suspended users and
 * inactive enrolments take no progress. So a record is closed last, and a closed one is opened first. A draft is
 * published after its lessons are written.
 */
export function stagesOf(
  { dataset, key, entry, current, changes, kind }: Action,
  record: JsonObject,
  busy: Busy,
): Stages {
  const plain = { opening: null, record, publishing: null, closing: null }
  if (kind === 'delete') {
    const isArchived = dataset === 'courses' && isClosed(dataset, current ?? {})
    if (!isArchived || !busy.courses.has(key)) return plain
    // It is closed again if it cannot be deleted.
    return { ...plain, opening: { status: 'published' }, closing: { status: 'archived' } }
  }
  if (dataset === 'users' || dataset === 'enrollments') {
    const [closing, open] = [{ status: closedStatus[dataset] }, { status: openStatus[dataset] }]
    const isBusy = (dataset === 'users' ? busy.users : busy.progress).has(key)
    // A closed record whose file declares no status stays closed: after an interruption no plan would close it again.
    const stays = (record['status'] ?? entry?.record['status']) === closing.status
    if (!isBusy || !stays) return plain
    if (current?.['status'] === closing.status) return { ...plain, opening: open, closing }
    return { ...plain, record: { ...record, ...open }, closing }
  }
  if (dataset !== 'courses') return plain

  const tracking = record['progressTracking']
  const untracked = isOff(tracking) && busy.progress.has(key)
  const wasArchived = current?.['status'] === 'archived'
  const stays = (record['status'] ?? current?.['status']) === 'archived'
  const opens = wasArchived && (busy.courses.has(key) || changes.some(({ field }) => field !== 'status'))
  // A course cannot be created as archived.
  const archives = stays && (opens || kind === 'create' || (!wasArchived && busy.courses.has(key)))
  const { status, ...others } = record
  const closing = {
    ...(untracked && { progressTracking: { enabled: false } }),
    ...(archives && { status: 'archived' }),
  }
  const isDraft = kind === 'create' || current?.['status'] === 'draft'
  const publishes = isDraft && (status === 'published' || (archives && kind === 'create'))
  const waits = publishes && busy.lessons.has(key)
  return {
    opening: opens ? { status: 'published' } : null,
    publishing: waits ? { status: 'published' } : null,
    record: {
      ...(archives || waits ? others : record),
      ...(kind === 'create' && waits && { status: 'draft' }),
      ...(kind === 'create' && archives && !waits && { status: 'published' }),
      ...(untracked && typeof tracking === 'object' && { progressTracking: { ...tracking, enabled: true } }),
    },
    closing: Object.keys(closing).length > 0 ? closing : null,
  }
}

function isOff(tracking: unknown): boolean {
  return (
    typeof tracking === 'object' && tracking !== null && 'enabled' in tracking && tracking.enabled === false
  )
}

/** Unique fields of users: a value must be free before another user takes it. */
const { unique = [] } = users

/**
 * Sorts updates so that each value is free when it is taken, as when one user gets the address of another. Throws a
 * CommandError if users swap values, which would need an intermediate value.
 */
export function inFreeOrder(updates: readonly Action[]): Action[] {
  const holders = new Map<string, Action>()
  for (const action of updates) {
    for (const { field, from } of action.changes) {
      if (unique.includes(field) && typeof from === 'string') holders.set(valueName(field, from), action)
    }
  }
  const ordered = new Set<Action>()
  const place = (action: Action, before: readonly Action[]) => {
    if (ordered.has(action)) return
    if (before.includes(action)) throw exchange(before.slice(before.indexOf(action)))
    for (const { field, to } of action.changes) {
      if (!unique.includes(field) || typeof to !== 'string') continue
      const holder = holders.get(valueName(field, to))
      if (holder && holder !== action) place(holder, [...before, action])
    }
    ordered.add(action)
  }
  for (const action of updates) place(action, [])
  return [...ordered]
}

/** Returns the unique names that changes take and free. */
export function uniqueNames(changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ field, from, to }) =>
    unique.includes(field)
      ? [from, to].flatMap((value) => (typeof value === 'string' ? [valueName(field, value)] : []))
      : [],
  )
}

function exchange(actions: readonly Action[]): CommandError {
  const fields = actions[0]?.changes.filter(({ field }) => unique.includes(field)).map(({ field }) => field)
  return new CommandError(
    'exchanged_values',
    'conflict',
    `Cannot exchange the ${fields?.join(' and ')} of users in one step`,
    {
      why: actions.map(
        ({ key, entry, changes }) =>
          `${entry ? `${placeText(entry.place)}: ` : ''}${keyText(key)}: ${changes
            .filter(({ field }) => unique.includes(field))
            .map(({ field, from, to }) => `${field} ${from} → ${to}`)
            .join(', ')}`,
      ),
      hint: 'Apply another value for one of them first, then the final ones',
    },
  )
}
