import { idAt, labelAt, malformedPayload, numberAt, requiredIdAt, truncate } from './delivery.ts'
import {
  candidatesOf,
  type EventReader,
  ignoreEvent,
  nameBy,
  type SimulatedEvent,
  type SimulatedEvents,
  type SimulatedFacts,
} from './event.ts'

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

export const thinkificEvents: SimulatedEvents = {
  'enrollment.progress': {
    ...thinkificEvent('progress'),
    summary: 'A learner made progress in a course',
    takes: ['percentage'],
  },
  'enrollment.completed': {
    ...thinkificEvent('completed'),
    summary: 'A learner completed a course',
    takes: [],
  },
}

function thinkificEvent(action: string): Omit<SimulatedEvent, 'summary' | 'takes'> {
  return {
    namesUser: ['id', 'email'],
    namesCourse: ['id'],
    headers: { 'x-thinkific-topic': `enrollment.${action}`, 'x-thinkific-subdomain': 'simulated' },
    payload: (facts) =>
      thinkificPayload({ ...facts, ...(action === 'completed' && { percentage: 100 }) }, action),
  }
}

function thinkificPayload({ user, course, percentage, at, serial }: SimulatedFacts, action: string) {
  const courseId = thinkificId(nameBy(course, 'id'), 25)
  const time = at.toISOString()
  return {
    id: serial,
    resource: 'enrollment',
    action,
    tenant_id: '59',
    created_at: time,
    payload: {
      activated_at: time,
      completed_at: percentage === 100 ? time : null,
      course: { id: courseId, name: 'Simulated course' },
      course_id: courseId,
      free_trial: false,
      percentage_completed: Number.isInteger(percentage) ? percentage.toFixed(1) : String(percentage),
      started_at: time,
      updated_at: time,
      user: {
        email: nameBy(user, 'email') ?? 'simulated.learner@example.org',
        first_name: 'Simulated',
        id: thinkificId(nameBy(user, 'id'), 95),
        last_name: 'Learner',
      },
    },
  }
}

function thinkificId(id: string | null, other: number): string | number {
  if (id === null) return other
  return /^\d{1,15}$/.test(id) ? Number(id) : id
}
