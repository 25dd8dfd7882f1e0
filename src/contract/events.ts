/** What happened, as outgoing webhooks name it: the noun, then what was done. */
export const eventTypes = [
  'course.created',
  'course.updated',
  'course.published',
  'course.archived',
  'course.deleted',
  'course.restored',
  'lesson.created',
  'lesson.updated',
  'lesson.deleted',
  'lesson.restored',
  'user.created',
  'user.updated',
  'user.deleted',
  'enrollment.created',
  'enrollment.updated',
  'enrollment.deleted',
  'progress.updated',
  'progress.completed',
  'grade.updated',
  'grade.deleted',
] as const
export type EventType = (typeof eventTypes)[number]

/** The event that a test of an endpoint sends; no pattern subscribes to it. */
export const testEvent = 'endpoint.test'

const nouns = ['course', 'lesson', 'user', 'enrollment', 'progress', 'grade'] as const

/** What an endpoint may subscribe to: everything, all events of a noun, or one event. */
export const eventPatterns = ['*', ...nouns.map((noun) => `${noun}.*` as const), ...eventTypes] as const
export type EventPattern = (typeof eventPatterns)[number]

/** The patterns that an event fits. */
export function patternsOf(type: EventType): readonly string[] {
  return ['*', `${type.split('.', 1)[0]}.*`, type]
}
