import { type Adapter, candidates, ignored } from './adapter.ts'
import { malformed } from './delivery-fault.ts'
import { cut, idAt, labelAt, numberAt, requiredIdAt } from './member.ts'

/** Events of Thinkific: a percentage of progress, which is no grade. */
export const adaptThinkific: Adapter = ({ body, at }) => {
  const [resource, action] = [labelAt(body, 'resource'), labelAt(body, 'action')]
  if (resource === '' || action === '') throw malformed('resource and action are required.')
  const name = cut(`${resource}.${action}`)
  const isCompleted = name === 'enrollment.completed'
  if (name !== 'enrollment.progress' && !isCompleted) return ignored(name, 'event_type')
  const percentage = isCompleted ? 100 : numberAt(body, 'payload.percentage_completed')
  if (percentage === null) return ignored(name, 'no_score')
  if (percentage < 0 || percentage > 100) return ignored(name, 'score_out_of_range')
  return {
    type: 'progress',
    name,
    course: candidates(['key', idAt(body, 'payload.course.id') ?? requiredIdAt(body, 'payload.course_id')]),
    learner: candidates(
      ['key', requiredIdAt(body, 'payload.user.id')],
      ['email', idAt(body, 'payload.user.email')],
    ),
    percentage,
    at: at(),
  }
}
