import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { wholeCourse } from '../contract/constants.ts'
import {
  idAt,
  identifierAt,
  instantAt,
  labelAt,
  malformedPayload,
  memberAt,
  numberAt,
  objectAt,
  requiredIdAt,
} from './delivery.ts'
import {
  type Candidate,
  candidatesOf,
  type EventReader,
  ignoreEvent,
  type LmsEvent,
  makeGrade,
  nameBy,
  type ReadablePayload,
  type SimulatedEvents,
  type SimulatedFacts,
  type SimulatedName,
} from './event.ts'

/** Canvas's own format, or for a graded submission Caliper 1.1 (canvas-lms doc/api/data_services/json). */
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
  return makeGrade(event, settings)
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
  return makeGrade(event, settings)
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
    isJsonObject(assignee) ? idAt(extensionOf(assignee), 'sis_id') : null,
  ])
  if (learner.length === 0) return ignoreEvent(name, 'anonymous')
  const given = {
    ...{ name, learner },
    course: candidatesOf(...canvasIdsOf(course, null)),
    itemId: canonicalCanvasIdOf(item, null),
    label: '',
    scoreGiven: numberAt(event, 'generated.scoreGiven'),
    scoreMaximum: numberAt(event, 'generated.maxScore'),
    published: true,
    gradedAt: instantAt(event, 'eventTime'),
  }
  return makeGrade(given, settings)
}

/** Null for another noun: `urn:instructure:canvas:course:21070000000000565`. */
function idInUrn(event: JsonObject, path: string, noun: string): string | null {
  const start = `urn:instructure:canvas:${noun}:`
  const urn = idAt(event, `${path}.id`)
  const id = urn?.startsWith(start) ? urn.slice(start.length) : ''
  return /^\d{1,19}$/.test(id) ? id : null
}

function extensionOf(thing: JsonObject): JsonObject {
  const all = memberAt(thing, 'extensions')
  const own = isJsonObject(all) ? all['com.instructure.canvas'] : undefined
  return isJsonObject(own) ? own : {}
}

/** Finds `urn:instructure:canvas:user:<id>` and the school's id beside it, even of an invalid event. */
export function findCaliperLearner(body: JsonObject): readonly (readonly [Candidate['by'], string])[] {
  const data = memberAt(body, 'data')
  const event: unknown = Array.isArray(data) ? data[0] : undefined
  const assignee = isJsonObject(event) ? memberAt(event, 'object.assignee') : undefined
  if (!isJsonObject(assignee)) return []
  const [key, sis] = [identifierAt(assignee, 'id'), identifierAt(extensionOf(assignee), 'sis_id')]
  return [
    ...(key === null ? [] : canvasIdsOf(key.slice(key.lastIndexOf(':') + 1), null)),
    ...(sis === null ? [] : [['externalId', sis] as const]),
  ]
}

/** A global id is the id of its shard times this, plus the local id. */
const shardSize = 10n ** 13n

/**
 * The given form first: events have global (shard · 10^13 + local) or local ids, URLs of pages local ones. A local id
 * belongs to the shard of the root account; a global id of another shard has no local form there.
 */
export function canvasIdsOf(
  id: string | null,
  rootAccountId: string | null,
): (readonly [Candidate['by'], string])[] {
  if (id === null) return []
  const home = shardOf(rootAccountId)
  const number = /^\d{1,19}$/.test(id) ? BigInt(id) : null
  const other = number === null ? null : otherFormOf(number, home)
  return [['key', id], ...(other === null ? [] : [['key', String(other)] as const])]
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

/** Shard of a hosted school, as in Canvas's examples. */
const shard = 2107n
const host = 'canvas.example.org'
const rootAccount = globalId('1')
const defaultIds = { user: '48', course: '565', item: '355', grader: '987' }

export const canvasEvents: SimulatedEvents = {
  grade_change: {
    summary: 'A submission was graded',
    takes: ['item', 'score', 'maximum', 'published'],
    namesUser: ['id', 'externalId'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => {
      const student = globalId(idOf(facts.user, defaultIds.user))
      const course = idOf(facts.course, defaultIds.course)
      const item = facts.item ?? defaultIds.item
      return {
        metadata: {
          ...metadata(facts, 'grade_change'),
          context_account_id: rootAccount,
          context_id: globalId(course),
          context_role: 'TeacherEnrollment',
          context_sis_source_id: nameBy(facts.course, 'externalId'),
          context_type: 'Course',
          url: `https://${host}/courses/${course}/gradebook/update_submission`,
          user_account_id: rootAccount,
          user_id: globalId(defaultIds.grader),
        },
        body: {
          assignment_id: globalId(item),
          grade: String(facts.score),
          grader_id: globalId(defaultIds.grader),
          grading_complete: true,
          muted: !facts.published,
          old_grade: null,
          old_points_possible: facts.maximum,
          old_score: null,
          points_possible: facts.maximum,
          score: facts.score,
          student_id: student,
          student_sis_id: nameBy(facts.user, 'externalId'),
          submission_id: globalId('11086'),
          user_id: student,
        },
      }
    },
  },
  course_grade_change: {
    summary: 'The grade of a learner in a course changed (a percentage)',
    takes: ['score'],
    namesUser: ['id'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => {
      const course = idOf(facts.course, defaultIds.course)
      return {
        metadata: {
          ...metadata(facts, 'course_grade_change'),
          context_id: globalId(course),
          context_sis_source_id: nameBy(facts.course, 'externalId'),
          context_type: 'Course',
          user_id: globalId(defaultIds.grader),
        },
        body: {
          user_id: idOf(facts.user, defaultIds.user),
          course_id: course,
          workflow_state: 'active',
          created_at: facts.at.toISOString(),
          updated_at: facts.at.toISOString(),
          current_score: facts.score,
          final_score: facts.score,
          unposted_current_score: facts.score,
          unposted_final_score: facts.score,
        },
      }
    },
  },
  course_progress: {
    summary: 'A learner met a requirement of a course',
    takes: ['percentage'],
    namesUser: ['id', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => progressPayload(facts, 'course_progress', facts.percentage),
  },
  course_completed: {
    summary: 'A learner met the last requirement of a course',
    takes: [],
    namesUser: ['id', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => progressPayload(facts, 'course_completed', 100),
  },
}

function progressPayload(facts: SimulatedFacts, name: string, percentage: number) {
  // A number of requirements that makes any percentage with two decimals a whole number of them.
  const all = Number.isInteger(percentage) ? 100 : 10_000
  return {
    metadata: metadata(facts, name),
    body: {
      course: {
        account_id: '1',
        id: idOf(facts.course, defaultIds.course),
        name: 'Simulated course',
        sis_source_id: nameBy(facts.course, 'externalId'),
      },
      progress: {
        completed_at: percentage === 100 ? facts.at.toISOString() : null,
        next_requirement_url: null,
        requirement_completed_count: Math.round((percentage / 100) * all),
        requirement_count: all,
      },
      user: {
        email: nameBy(facts.user, 'email'),
        id: idOf(facts.user, defaultIds.user),
        name: 'Simulated learner',
      },
    },
  }
}

function metadata({ account = 'simulated-account', at, serial }: SimulatedFacts, name: string) {
  return {
    event_name: name,
    event_time: at.toISOString(),
    hostname: host,
    producer: 'canvas',
    request_id: serial,
    root_account_id: rootAccount,
    root_account_lti_guid: `${account}.${host}`,
    root_account_uuid: account,
  }
}

function idOf(name: SimulatedName, other: string): string {
  return nameBy(name, 'id') ?? other
}

/** Events have global ids; an id that is not a number stays unchanged. */
function globalId(id: string): string {
  if (!/^\d{1,19}$/.test(id)) return id
  const number = BigInt(id)
  return String(number < shardSize ? shard * shardSize + number : number)
}
