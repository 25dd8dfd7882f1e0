import { malformedPayload } from './delivery.ts'
import { candidatesOf, type EventReader, ignoreEvent } from './event.ts'
import { idAt, labelAt, numberAt, requiredIdAt, truncate } from './payload.ts'

/** Reads an event of Thinkific: a percentage of progress, but no grade. */
export const readThinkificEvent: EventReader = ({ body, at }) => {
  const [resource, action] = [labelAt(body, 'resource'), labelAt(body, 'action')]
  if (resource === '' || action === '') throw malformedPayload('resource and action are required.')
  const name = truncate(`${resource}.${action}`)
  const isCompleted = name === 'enrollment.completed'
  if (name !== 'enrollment.progress' && !isCompleted) return ignoreEvent(name, 'event_type')
  const percentage = isCompleted ? 100 : numberAt(body, 'payload.percentage_completed')
  if (percentage === null) return ignoreEvent(name, 'no_score')
  if (percentage < 0 || percentage > 100) return ignoreEvent(name, 'score_out_of_range')
  return {
    type: 'progress',
    name,
    course: candidatesOf(['key', idAt(body, 'payload.course.id') ?? requiredIdAt(body, 'payload.course_id')]),
    learner: candidatesOf(
      ['key', requiredIdAt(body, 'payload.user.id')],
      ['email', idAt(body, 'payload.user.email')],
    ),
    percentage,
    at: at(),
  }
}
