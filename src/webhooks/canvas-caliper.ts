import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { candidates, grade, ignored, type Reading } from './adapter.ts'
import { canonicalCanvasId, canvasIds } from './canvas-id.ts'
import { malformed } from './delivery-fault.ts'
import type { LmsEvent } from './event.ts'
import { idAt, instantAt, labelAt, memberAt, numberAt } from './member.ts'

const extensions = 'com.instructure.canvas'

/** True for an envelope of Caliper 1.1. */
export function isCaliper(body: JsonObject): boolean {
  return Array.isArray(memberAt(body, 'data')) && memberAt(body, 'sensor') !== undefined
}

/** A GradeEvent as Canvas sends it, one in each envelope. */
export function caliperGrade({ body, settings }: Reading): LmsEvent {
  const data = memberAt(body, 'data')
  const [event, ...more] = Array.isArray(data) ? data : []
  if (!isJsonObject(event) || more.length > 0) throw malformed('data must hold one event.')
  const name = labelAt(event, 'type')
  if (name === '') throw malformed('data.0.type is required.')
  if (name !== 'GradeEvent') return ignored(name, 'event_type')
  const course = urnId(event, 'group', 'course')
  if (course === null) return ignored(name, 'context')
  const item = urnId(event, 'object.assignable', 'assignment')
  if (item === null) throw malformed('data.0.object.assignable.id must be that of an assignment.')
  const assignee = memberAt(event, 'object.assignee')
  const learner = candidates(...canvasIds(urnId(event, 'object.assignee', 'user'), null), [
    'externalId',
    isJsonObject(assignee) ? extensionId(assignee, 'sis_id') : null,
  ])
  if (learner.length === 0) return ignored(name, 'anonymous')
  const given = {
    name,
    course: candidates(...canvasIds(course, null)),
    learner,
    itemId: canonicalCanvasId(item, null),
    label: '',
    scoreGiven: numberAt(event, 'generated.scoreGiven'),
    scoreMaximum: numberAt(event, 'generated.maxScore'),
    published: true,
    gradedAt: instantAt(event, 'eventTime'),
  }
  return grade({ ...given, takesDefault: false }, settings)
}

/** The id in a name such as `urn:instructure:canvas:course:21070000000000565`; null where it names something else. */
function urnId(event: JsonObject, path: string, noun: string): string | null {
  const start = `urn:instructure:canvas:${noun}:`
  const urn = idAt(event, `${path}.id`)
  const id = urn?.startsWith(start) ? urn.slice(start.length) : ''
  return /^\d{1,19}$/.test(id) ? id : null
}

function extensionId(thing: JsonObject, name: string): string | null {
  const all = memberAt(thing, 'extensions')
  const own = isJsonObject(all) && Object.hasOwn(all, extensions) ? all[extensions] : undefined
  return isJsonObject(own) ? idAt(own, name) : null
}
