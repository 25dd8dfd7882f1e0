import type { JsonObject } from '../../codec/json-object.ts'
import type { Part } from './entry.ts'
import type { Action, Plan } from './plan.ts'

/** What is written of one record: first, as it is, and last. */
export interface Stages {
  /** Before anything is written to what it closes; null for nothing. */
  readonly opening: JsonObject | null
  /** What is declared, without what would close the record too early. */
  readonly record: JsonObject
  /** After everything else; null for nothing. */
  readonly closing: JsonObject | null
}

/** The records to which a plan writes something else: an enrolment to its course and its user. */
export interface Busy {
  /** Keys of courses in which anything is written. */
  readonly courses: ReadonlySet<string>
  /** Keys of courses for which progress is written, and of enrolments for which progress or grades are. */
  readonly progress: ReadonlySet<string>
  readonly users: ReadonlySet<string>
}

const closedStatus = { users: 'suspended', courses: 'archived', enrollments: 'inactive' } as const
const openStatus = { users: 'active', courses: 'published', enrollments: 'active' } as const

/** True for a record to which nothing else can be written. */
export function isClosed(dataset: Part, { status }: JsonObject): boolean {
  return dataset in closedStatus && status === closedStatus[dataset as keyof typeof closedStatus]
}

/** What is written to. */
export function busyIn({ actions }: Plan): Busy {
  const courses = new Set<string>()
  const progress = new Set<string>()
  const users = new Set<string>()
  for (const { dataset, entry, current } of actions) {
    const record = entry?.record ?? current ?? {}
    const course = String(record['courseId'])
    if (dataset !== 'users' && dataset !== 'courses') courses.add(course)
    if (dataset === 'enrollments') users.add(String(record['userId']))
    if (dataset !== 'progress' && dataset !== 'grades') continue
    const learner = String(record['learnerId'])
    progress.add([course, learner, 'learner'].join('\n'))
    // Grades need no tracking.
    if (dataset === 'progress') progress.add(course)
    users.add(learner)
  }
  return { courses, progress, users }
}

/**
 * The stages of an action. An archived course takes no lessons, enrolments and progress, neither do a suspended user and an
 * inactive enrolment take progress: what closes them comes last, and what is closed already is opened first.
 */
export function stagesOf(
  { dataset, key, entry, current, changes, kind }: Action,
  record: JsonObject,
  busy: Busy,
): Stages {
  if (dataset === 'users' || dataset === 'enrollments') {
    const [closing, open] = [{ status: closedStatus[dataset] }, { status: openStatus[dataset] }]
    const isBusy = (dataset === 'users' ? busy.users : busy.progress).has(key)
    // One that a file says nothing about stays closed: nobody would close it again after an interruption.
    const stays = (record['status'] ?? entry?.record['status']) === closing.status
    if (!isBusy || !stays) return { opening: null, record, closing: null }
    if (current?.['status'] === closing.status) return { opening: open, record, closing }
    return { opening: null, record: { ...record, ...open }, closing }
  }
  if (dataset !== 'courses') return { opening: null, record, closing: null }

  const tracking = record['progressTracking']
  const untracked = isOff(tracking) && busy.progress.has(key)
  const wasArchived = current?.['status'] === 'archived'
  const stays = (record['status'] ?? current?.['status']) === 'archived'
  const opens = wasArchived && (busy.courses.has(key) || changes.some(({ field }) => field !== 'status'))
  // No course begins as an archived one.
  const archives = stays && (opens || kind === 'create' || (!wasArchived && busy.courses.has(key)))
  const { status, ...others } = record
  const closing = {
    ...(untracked && { progressTracking: { enabled: false } }),
    ...(archives && { status: 'archived' }),
  }
  return {
    opening: opens ? { status: 'published' } : null,
    record: {
      ...(archives ? others : record),
      ...(archives && kind === 'create' && { status: 'published' }),
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
