/** `<noun>.<past participle>`: names of audit entries and of events. */
export const actions = [
  ...['course.created', 'course.updated', 'course.published', 'course.unpublished', 'course.archived'],
  ...['course.deleted', 'course.restored', 'course.erased'],
  ...['lesson.created', 'lesson.updated', 'lesson.published', 'lesson.unpublished'],
  ...['lesson.deleted', 'lesson.restored', 'lesson.erased'],
  ...['user.created', 'user.updated', 'user.suspended', 'user.activated', 'user.password_changed'],
  ...['user.deleted', 'user.restored', 'user.erased'],
  ...['term.created', 'term.updated', 'term.deleted'],
  ...['enrollment.created', 'enrollment.updated', 'enrollment.completed'],
  ...['enrollment.deleted', 'enrollment.restored'],
  ...['group.created', 'group.updated', 'group.deleted', 'group.restored', 'group.erased'],
  ...['membership.created', 'membership.deleted'],
  ...['progress.updated', 'progress.completed'],
  ...['grade.updated', 'grade.deleted'],
  ...['line_item.created', 'line_item.updated', 'line_item.deleted'],
  ...['calendar.created', 'calendar.revoked'],
  ...['key.created', 'key.revoked'],
  ...['app.created', 'app.authorized', 'app.deleted'],
  ...['endpoint.created', 'endpoint.updated', 'endpoint.rotated', 'endpoint.disabled', 'endpoint.deleted'],
  ...['integration.updated', 'integration.removed', 'integration.written'],
  ...['mapping.updated', 'mapping.deleted'],
  ...['message.resent', 'delivery.replayed'],
  ...['settings.updated'],
  ...['encryption_key.replaced'],
  ...['audit_log.upgraded'],
  ...['grant.allowed', 'grant.created', 'grant.refreshed', 'grant.token_revoked', 'grant.revoked'],
  ...['session.created', 'session.refused', 'session.ended'],
  ...['request.refused'],
] as const satisfies readonly `${string}.${string}`[]

export type Action = (typeof actions)[number]

export type Noun = Action extends `${infer Name}.${string}` ? Name : never

export function nounOf(action: Action): Noun {
  // Every action has a dot.
  return action.slice(0, action.indexOf('.')) as Noun
}

export const nouns = [...new Set(actions.map(nounOf))]

/** Progress has a history of its own instead. */
export const auditedActions = actions.filter((action) => !action.startsWith('progress.')) as readonly Action[]

export const auditedNouns = [...new Set(auditedActions.map(nounOf))]

const eventNouns = [
  'course',
  'lesson',
  'user',
  'enrollment',
  'group',
  'membership',
  'progress',
  'grade',
] as const
type EventNoun = (typeof eventNouns)[number]

/** Changes to the contents of an academy, not to credentials. */
export const eventTypes = actions.filter(isEvent)
export type EventType = Exclude<
  Extract<(typeof actions)[number], `${EventNoun}.${string}`>,
  'user.password_changed'
>

/** Those that become statements of xAPI; an endpoint of kind `xapi` gets no others. */
export const statementEvents = [
  'progress.updated',
  'progress.completed',
  'grade.updated',
] as const satisfies readonly EventType[]

/** The event that a test of an endpoint sends; no pattern subscribes to it. */
export const testEvent = 'endpoint.test'

/** The message of a daily digest, for people. */
export const digestEvent = 'endpoint.digest'

export const messageTypes = [testEvent, digestEvent, ...eventTypes] as const

/** Patterns that an endpoint can subscribe to: everything, all events of a noun, or one event. */
export const eventPatterns = ['*', ...eventNouns.map((noun) => `${noun}.*` as const), ...eventTypes] as const
export type EventPattern = (typeof eventPatterns)[number]

export function isEvent(action: string): action is EventType {
  return eventNouns.some((noun) => action.startsWith(`${noun}.`)) && action !== 'user.password_changed'
}

export function patternsOf(type: string): readonly string[] {
  return ['*', `${type.split('.', 1)[0]}.*`, type]
}

/** Removes patterns that a wider one includes, so that no event matches two. */
export function withoutOverlap(patterns: readonly string[]): readonly string[] {
  const all = new Set(patterns)
  return [...all].filter((pattern) => {
    const wider = pattern === '*' ? [] : patternsOf(pattern).filter((other) => other !== pattern)
    return !wider.some((other) => all.has(other))
  })
}
