import type { JsonObject } from '../../codec/json-object.ts'
import type { Part } from './entry.ts'
import type { Action, Plan } from './plan.ts'

/** What is written of one record: first, as it is, and last. */
export interface Stages {
  /** Before anything is written to what it closes; null for nothing. */
  readonly opening: JsonObject | null
  /** What is declared, without what would close the record too early. */
  readonly record: JsonObject
  /** After its lessons: learners do not see half a course; null for nothing. */
  readonly publishing: JsonObject | null
  /** After everything else; null for nothing. */
  readonly closing: JsonObject | null
}

/** The records to which a plan writes something else: an enrolment to its course and its user. */
export interface Busy {
  /** Keys of courses in which anything is written. */
  readonly courses: ReadonlySet<string>
  /** Keys of courses in which lessons are written. */
  readonly lessons: ReadonlySet<string>
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
  const lessons = new Set<string>()
  const progress = new Set<string>()
  const users = new Set<string>()
  for (const { dataset, entry, current } of actions) {
    const record = entry?.record ?? current ?? {}
    const course = String(record['courseId'])
    if (dataset !== 'users' && dataset !== 'courses') courses.add(course)
    if (dataset === 'lessons') lessons.add(course)
    if (dataset === 'enrollments') users.add(String(record['userId']))
    if (dataset !== 'progress' && dataset !== 'grades') continue
    const learner = String(record['learnerId'])
    progress.add([course, learner, 'learner'].join('\n'))
    // Grades need no tracking.
    if (dataset === 'progress') progress.add(course)
    users.add(learner)
  }
  return { courses, lessons, progress, users }
}

/**
 * The stages of an action. An archived course takes no lessons, enrolments and progress, neither do a suspended user and an
 * inactive enrolment take progress: what closes them comes last, and what is closed already is opened first. A draft is
 * published after its lessons are written.
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
    const stages = { opening: null, record, publishing: null, closing: null }
    if (!isBusy || !stays) return stages
    if (current?.['status'] === closing.status) return { ...stages, opening: open, closing }
    return { ...stages, record: { ...record, ...open }, closing }
  }
  if (dataset !== 'courses') return { opening: null, record, publishing: null, closing: null }

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
