import { wholeCourse } from '../contract/whole-course.ts'
import { type Adapter, candidates, grade, ignored } from './adapter.ts'
import { malformed } from './delivery-fault.ts'
import { idAt, instantAt, labelAt, memberAt, numberAt, requiredIdAt } from './member.ts'

/** A score of LTI Assignment and Grade Services 2.0 in an envelope of Standard Webhooks. */
export const adaptStandard: Adapter = ({ body, settings, at }) => {
  const name = labelAt(body, 'type')
  if (name === '') throw malformed('type is required.')
  if (name !== 'grade.updated') return ignored(name, 'event_type')
  const has = (member: string) => memberAt(body, `data.${member}`) !== undefined
  if (!has('scoreGiven')) return ignored(name, 'no_score')
  const scoreGiven = numberAt(body, 'data.scoreGiven')
  const scoreMaximum = has('scoreMaximum') ? numberAt(body, 'data.scoreMaximum') : null
  if (scoreGiven !== null && (scoreMaximum === null || scoreMaximum <= 0)) {
    throw malformed('data.scoreMaximum is required with data.scoreGiven, above 0.')
  }
  const grading = labelAt(body, 'data.gradingProgress')
  const event = {
    name,
    course: candidates(...named(requiredIdAt(body, 'data.courseId'))),
    learner: candidates(...named(requiredIdAt(body, 'data.userId'))),
    itemId: idAt(body, 'data.itemId') ?? wholeCourse,
    label: labelAt(body, 'data.label'),
    scoreGiven,
    scoreMaximum,
    published: grading === '' || grading === 'FullyGraded',
    gradedAt: has('timestamp') ? instantAt(body, 'data.timestamp') : at(),
  }
  return grade({ ...event, takesDefault: false }, settings)
}

/** An id that may be ours, or that of the sender's, as a mapping has it. */
export function named(id: string) {
  return [
    ['reference', id],
    ['key', id],
    ...(/^(ext|email):/.test(id) || !id.includes('@') ? [] : [['email', id] as const]),
  ] as const
}
