import { wholeCourse } from '../contract/constants.ts'
import { malformedPayload } from './delivery.ts'
import { candidatesOf, type EventReader, ignoreEvent, makeGrade } from './event.ts'
import { idAt, instantAt, labelAt, memberAt, numberAt, requiredIdAt } from './payload.ts'
import type { SimulatedEvents } from './simulated-event.ts'

/** A score of LTI Assignment and Grade Services 2.0 in an envelope of Standard Webhooks. */
export const readStandardEvent: EventReader = ({ body, settings, at }) => {
  const name = labelAt(body, 'type')
  if (name === '') throw malformedPayload('type is required.')
  if (name !== 'grade.updated') return ignoreEvent(name, 'event_type')
  const has = (member: string) => memberAt(body, `data.${member}`) !== undefined
  if (!has('scoreGiven')) return ignoreEvent(name, 'no_score')
  const scoreGiven = numberAt(body, 'data.scoreGiven')
  const scoreMaximum = has('scoreMaximum') ? numberAt(body, 'data.scoreMaximum') : null
  if (scoreGiven !== null && (scoreMaximum === null || scoreMaximum <= 0)) {
    throw malformedPayload('data.scoreMaximum is required with data.scoreGiven, above 0.')
  }
  const grading = labelAt(body, 'data.gradingProgress')
  const event = {
    name,
    course: candidatesOf(...standardCandidatesOf(requiredIdAt(body, 'data.courseId'))),
    learner: candidatesOf(...standardCandidatesOf(requiredIdAt(body, 'data.userId'))),
    itemId: idAt(body, 'data.itemId') ?? wholeCourse,
    label: labelAt(body, 'data.label'),
    scoreGiven,
    scoreMaximum,
    published: grading === '' || grading === 'FullyGraded',
    gradedAt: has('timestamp') ? instantAt(body, 'data.timestamp') : at(),
  }
  return makeGrade({ ...event, takesDefault: false }, settings)
}

/** The id may be ours or the sender's. */
export function standardCandidatesOf(id: string) {
  return [
    ['reference', id],
    ['key', id],
    ...(/^(ext|email):/.test(id) || !id.includes('@') ? [] : [['email', id] as const]),
  ] as const
}

export const standardEvents: SimulatedEvents = {
  'grade.updated': {
    summary: 'A learner was graded in an item',
    takes: ['item', 'label', 'score', 'maximum', 'published'],
    namesUser: ['id', 'externalId', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: ({ user, course, item, label, score, maximum, published, at }) => ({
      type: 'grade.updated',
      timestamp: at.toISOString(),
      data: {
        courseId: course.by === 'externalId' ? `ext:${course.value}` : course.value,
        userId: user.by === 'externalId' ? `ext:${user.value}` : user.value,
        itemId: item ?? 'quiz-1',
        ...(label !== undefined && { label }),
        timestamp: at.toISOString(),
        scoreGiven: score,
        scoreMaximum: maximum,
        activityProgress: 'Completed',
        gradingProgress: published ? 'FullyGraded' : 'PendingManual',
      },
    }),
  },
}
