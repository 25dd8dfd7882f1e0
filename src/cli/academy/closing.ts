import type { JsonObject } from '../../codec/json-object.ts'
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
  /** Keys of users, courses and enrolments for which progress is written. */
  readonly progress: ReadonlySet<string>
  readonly users: ReadonlySet<string>
}

/** What is written to. */
export function busyIn({ actions }: Plan): Busy {
  const courses = new Set<string>()
  const progress = new Set<string>()
  const users = new Set<string>()
  for (const { dataset, entry, current } of actions) {
    const record = entry?.record ?? current ?? {}
    const course = String(record['courseId'])
    if (dataset === 'lessons' || dataset === 'enrollments' || dataset === 'progress') courses.add(course)
    if (dataset === 'enrollments') users.add(String(record['userId']))
    if (dataset !== 'progress') continue
    const learner = String(record['learnerId'])
    for (const key of [course, [course, learner, 'learner'].join('\n')]) progress.add(key)
    users.add(learner)
  }
  return { courses, progress, users }
}

/**
 * The stages of an action. An archived course takes no lessons, enrolments and progress, neither do a suspended user and an
 * inactive enrolment take progress: what closes them comes last, and an archived course is opened first.
 */
export function stagesOf(
  { dataset, key, current, changes, kind }: Action,
  record: JsonObject,
  busy: Busy,
): Stages {
  const last = (busyKeys: ReadonlySet<string>, closed: string, open: JsonObject): Stages => {
    if (record['status'] !== closed || !busyKeys.has(key)) return { opening: null, record, closing: null }
    return { opening: null, record: { ...record, ...open }, closing: { status: closed } }
  }
  if (dataset === 'users') return last(busy.users, 'suspended', { status: 'active' })
  if (dataset === 'enrollments') return last(busy.progress, 'inactive', { status: 'active' })
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
