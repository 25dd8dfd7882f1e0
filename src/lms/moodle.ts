import { malformedPayload } from './delivery.ts'
import { candidatesOf, type EventReader, ignoreEvent, makeGrade } from './event.ts'
import { idAt, labelAt, numberAt, requiredIdAt } from './payload.ts'

/** Reads an event of the Moodle plugin local_webhooks. */
export const readMoodleEvent: EventReader = ({ body, settings, at }) => {
  const name = labelAt(body, 'eventname')
  if (name === '') throw malformedPayload('eventname is required.')
  const isGrade = name === '\\core\\event\\user_graded'
  if (!isGrade && name !== '\\core\\event\\course_completed') return ignoreEvent(name, 'event_type')
  // relateduserid, because userid is the grader, or the program that completes courses.
  const learner = candidatesOf(['key', idAt(body, 'relateduserid')])
  if (learner.length === 0) return ignoreEvent(name, 'anonymous')
  const course = candidatesOf(['key', requiredIdAt(body, 'courseid')])
  if (!isGrade) return { type: 'progress', name, course, learner, percentage: 100, at: at() }
  const event = {
    name,
    course,
    learner,
    itemId: requiredIdAt(body, 'other.itemid'),
    label: '',
    scoreGiven: numberAt(body, 'other.finalgrade'),
    scoreMaximum: null,
    published: true,
    gradedAt: at(),
  }
  return makeGrade({ ...event, takesDefault: true }, settings)
}
