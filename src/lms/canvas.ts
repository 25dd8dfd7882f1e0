import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { wholeCourse } from '../contract/constants.ts'
import { malformedPayload } from './delivery.ts'
import {
  type Candidate,
  candidatesOf,
  type EventReader,
  ignoreEvent,
  type LmsEvent,
  makeGrade,
  type ReadablePayload,
} from './event.ts'
import {
  idAt,
  identifierAt,
  instantAt,
  labelAt,
  memberAt,
  numberAt,
  objectAt,
  requiredIdAt,
} from './payload.ts'

/** In Canvas's own format, or for a graded submission in Caliper 1.1 (canvas-lms doc/api/data_services/json). */
export const readCanvasEvent: EventReader = (reading) => {
  const { body } = reading
  if (isCaliper(body)) return readCaliperGrade(reading)
  const name = labelAt(body, 'metadata.event_name')
  if (name === '') throw malformedPayload('metadata.event_name is required.')
  const read = Object.hasOwn(events, name) ? events[name] : undefined
  if (read === undefined) return ignoreEvent(name, 'event_type')
  objectAt(body, 'body')
  return read(reading, name)
}

const events: Readonly<Record<string, (reading: ReadablePayload, name: string) => LmsEvent>> = {
  grade_change: readItemGrade,
  course_grade_change: readCourseGrade,
  course_progress: readProgress,
  course_completed: readProgress,
}

function readItemGrade({ body, settings, at }: ReadablePayload, name: string): LmsEvent {
  // An override of a course's grade has the same event name, and may be for one grading period.
  if (memberAt(body, 'body.override_score') !== undefined) return ignoreEvent(name, 'event_type')
  if (memberAt(body, 'metadata.context_type') !== 'Course') return ignoreEvent(name, 'context')
  const root = idAt(body, 'metadata.root_account_id')
  // Not the user of the metadata, who is the grader.
  const learner = candidatesOf(
    ...canvasIdsOf(idAt(body, 'body.user_id') ?? idAt(body, 'body.student_id'), root),
    ['externalId', idAt(body, 'body.student_sis_id')],
  )
  // Anonymous grading.
  if (learner.length === 0) return ignoreEvent(name, 'anonymous')
  const scoreGiven = numberAt(body, 'body.score')
  // A null score does not remove the grade: a grade such as "complete" has no score.
  if (scoreGiven === null && (memberAt(body, 'body.grade') ?? '') !== '') return ignoreEvent(name, 'no_score')
  const event = {
    name,
    course: courseOfContext(body, root),
    learner,
    itemId: canonicalCanvasIdOf(requiredIdAt(body, 'body.assignment_id'), root),
    label: '',
    scoreGiven,
    scoreMaximum: numberAt(body, 'body.points_possible'),
    published: memberAt(body, 'body.muted') !== true && memberAt(body, 'body.grading_complete') !== false,
    gradedAt: at(),
  }
  return makeGrade({ ...event, takesDefault: false }, settings)
}

function readCourseGrade({ body, settings, at }: ReadablePayload, name: string): LmsEvent {
  const root = idAt(body, 'metadata.root_account_id')
  const event = {
    name,
    course: candidatesOf(
      ...canvasIdsOf(requiredIdAt(body, 'body.course_id'), root),
      ...courseOfContext(body, root, true).map(({ by, value }) => [by, value] as const),
    ),
    learner: candidatesOf(...canvasIdsOf(requiredIdAt(body, 'body.user_id'), root)),
    itemId: wholeCourse,
    label: '',
    // Like our gradebook, current_score leaves out ungraded items; final_score counts them as zero.
    scoreGiven: numberAt(body, 'body.current_score'),
    scoreMaximum: 100,
    published: memberAt(body, 'body.workflow_state') !== 'deleted',
    gradedAt: at(),
  }
  return makeGrade({ ...event, takesDefault: false }, settings)
}

function courseOfContext(body: JsonObject, root: string | null, optional = false): Candidate[] {
  const id = optional ? idAt(body, 'metadata.context_id') : requiredIdAt(body, 'metadata.context_id')
  return candidatesOf(...canvasIdsOf(id, root), ['externalId', idAt(body, 'metadata.context_sis_source_id')])
}

function readProgress({ body, at }: ReadablePayload, name: string): LmsEvent {
  const root = idAt(body, 'metadata.root_account_id')
  const done = numberAt(body, 'body.progress.requirement_completed_count') ?? 0
  const all = numberAt(body, 'body.progress.requirement_count') ?? 0
  const isCompleted = name === 'course_completed'
  if (!isCompleted && all <= 0) return ignoreEvent(name, 'no_requirements')
  return {
    type: 'progress',
    name,
    course: candidatesOf(...canvasIdsOf(requiredIdAt(body, 'body.course.id'), root), [
      'externalId',
      idAt(body, 'body.course.sis_source_id'),
    ]),
    learner: candidatesOf(...canvasIdsOf(requiredIdAt(body, 'body.user.id'), root), [
      'email',
      idAt(body, 'body.user.email'),
    ]),
    percentage: isCompleted ? 100 : Math.min(100, Math.max(0, (done / all) * 100)),
    at: at(),
  }
}

const extensions = 'com.instructure.canvas'

function isCaliper(body: JsonObject): boolean {
  return Array.isArray(memberAt(body, 'data')) && memberAt(body, 'sensor') !== undefined
}

/** Canvas sends one GradeEvent in each envelope. */
function readCaliperGrade({ body, settings }: ReadablePayload): LmsEvent {
  const data = memberAt(body, 'data')
  const [event, ...more] = Array.isArray(data) ? data : []
  if (!isJsonObject(event) || more.length > 0) throw malformedPayload('data must hold one event.')
  const name = labelAt(event, 'type')
  if (name === '') throw malformedPayload('data.0.type is required.')
  if (name !== 'GradeEvent') return ignoreEvent(name, 'event_type')
  const course = idInUrn(event, 'group', 'course')
  if (course === null) return ignoreEvent(name, 'context')
  const item = idInUrn(event, 'object.assignable', 'assignment')
  if (item === null) throw malformedPayload('data.0.object.assignable.id must be that of an assignment.')
  const assignee = memberAt(event, 'object.assignee')
  const learner = candidatesOf(...canvasIdsOf(idInUrn(event, 'object.assignee', 'user'), null), [
    'externalId',
    isJsonObject(assignee) ? idInExtension(assignee, 'sis_id') : null,
  ])
  if (learner.length === 0) return ignoreEvent(name, 'anonymous')
  const given = {
    name,
    course: candidatesOf(...canvasIdsOf(course, null)),
    learner,
    itemId: canonicalCanvasIdOf(item, null),
    label: '',
    scoreGiven: numberAt(event, 'generated.scoreGiven'),
    scoreMaximum: numberAt(event, 'generated.maxScore'),
    published: true,
    gradedAt: instantAt(event, 'eventTime'),
  }
  return makeGrade({ ...given, takesDefault: false }, settings)
}

/** Reads a name such as `urn:instructure:canvas:course:21070000000000565`; null for another noun. */
function idInUrn(event: JsonObject, path: string, noun: string): string | null {
  const start = `urn:instructure:canvas:${noun}:`
  const urn = idAt(event, `${path}.id`)
  const id = urn?.startsWith(start) ? urn.slice(start.length) : ''
  return /^\d{1,19}$/.test(id) ? id : null
}

function idInExtension(thing: JsonObject, name: string): string | null {
  const all = memberAt(thing, 'extensions')
  const own = isJsonObject(all) && Object.hasOwn(all, extensions) ? all[extensions] : undefined
  return isJsonObject(own) ? idAt(own, name) : null
}

/** Returns the id in `urn:instructure:canvas:user:<id>` and the school's id beside it, even of an invalid event. */
export function findCaliperLearner(body: JsonObject): readonly (readonly [Candidate['by'], string])[] {
  const data = memberAt(body, 'data')
  const event: unknown = Array.isArray(data) ? data[0] : undefined
  const assignee = isJsonObject(event) ? memberAt(event, 'object.assignee') : undefined
  if (!isJsonObject(assignee)) return []
  const [key, extensions] = [identifierAt(assignee, 'id'), memberAt(assignee, 'extensions')]
  const own = isJsonObject(extensions) ? extensions['com.instructure.canvas'] : undefined
  const sis = isJsonObject(own) ? identifierAt(own, 'sis_id') : null
  return [
    ...(key === null ? [] : canvasIdsOf(key.slice(key.lastIndexOf(':') + 1), null)),
    ...(sis === null ? [] : [['externalId', sis] as const]),
  ]
}

/** A global id is the id of its shard times this, plus the local id. */
const shardSize = 10n ** 13n

/**
 * The given form comes first: events have global (shard · 10^13 + local) or local ids, URLs of pages local ones. A
 * local id belongs to the shard of the root account; a global id of another shard has no local form there.
 */
export function canvasIdsOf(
  id: string | null,
  rootAccountId: string | null,
): (readonly [Candidate['by'], string])[] {
  if (id === null) return []
  const home = shardOf(rootAccountId)
  const number = /^\d{1,19}$/.test(id) ? BigInt(id) : null
  const other = number === null ? null : otherFormOf(number, home)
  return other === null
    ? [['key', id]]
    : [
        ['key', id],
        ['key', String(other)],
      ]
}

/** Returns the local form, which survives a move to another shard; the id itself without one. */
export function canonicalCanvasIdOf(id: string, rootAccountId: string | null): string {
  const forms = canvasIdsOf(id, rootAccountId).map(([, form]) => form)
  return forms.reduce((shortest, form) => (form.length < shortest.length ? form : shortest))
}

function otherFormOf(id: bigint, home: bigint | null): bigint | null {
  const shard = id / shardSize
  if (shard > 0n) return home === null || shard === home ? id % shardSize : null
  return home === null ? null : home * shardSize + id
}

function shardOf(rootAccountId: string | null): bigint | null {
  if (rootAccountId === null || !/^\d{1,19}$/.test(rootAccountId)) return null
  const shard = BigInt(rootAccountId) / shardSize
  return shard > 0n ? shard : null
}
