import { type Adapter, candidates, grade, ignored } from './adapter.ts'
import { malformed } from './delivery-fault.ts'
import { idAt, labelAt, numberAt, requiredIdAt } from './member.ts'

/** Events as the Moodle plugin local_webhooks sends them. */
export const adaptMoodle: Adapter = ({ body, settings, at }) => {
  const name = labelAt(body, 'eventname')
  if (name === '') throw malformed('eventname is required.')
  const isGrade = name === '\\core\\event\\user_graded'
  if (!isGrade && name !== '\\core\\event\\course_completed') return ignored(name, 'event_type')
  // The user of the event is whoever graded, or the program that completes courses.
  const learner = candidates(['key', idAt(body, 'relateduserid')])
  if (learner.length === 0) return ignored(name, 'anonymous')
  const course = candidates(['key', requiredIdAt(body, 'courseid')])
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
  return grade({ ...event, takesDefault: true }, settings)
}
