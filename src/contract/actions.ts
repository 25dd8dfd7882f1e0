/** What can happen to things of each kind, each as `<noun>.<past participle>`; the names that audit entries and events have. */
export const actions = [
  ...['course.created', 'course.updated', 'course.published', 'course.unpublished', 'course.archived'],
  ...['course.deleted', 'course.restored', 'course.erased'],
  ...['lesson.created', 'lesson.updated', 'lesson.published', 'lesson.unpublished'],
  ...['lesson.deleted', 'lesson.restored', 'lesson.erased'],
  ...['user.created', 'user.updated', 'user.suspended', 'user.activated', 'user.password_changed'],
  ...['user.deleted', 'user.restored', 'user.erased'],
  ...['enrollment.created', 'enrollment.updated', 'enrollment.completed'],
  ...['enrollment.deleted', 'enrollment.restored'],
  ...['progress.updated', 'progress.completed'],
  ...['grade.updated', 'grade.deleted'],
  ...['key.created', 'key.revoked'],
  ...['app.created', 'app.deleted'],
  ...['endpoint.created', 'endpoint.updated', 'endpoint.rotated', 'endpoint.disabled', 'endpoint.deleted'],
  ...['integration.updated', 'integration.removed'],
  ...['mapping.updated', 'mapping.deleted'],
  ...['message.resent', 'delivery.replayed'],
  ...['encryption_key.replaced'],
  ...['audit_log.upgraded'],
  ...['grant.allowed', 'grant.created', 'grant.refreshed', 'grant.token_revoked', 'grant.revoked'],
  ...['session.created', 'session.refused', 'session.ended'],
  ...['request.refused'],
] as const satisfies readonly `${string}.${string}`[]

/** One of them. */
export type Action = (typeof actions)[number]

/** What an action is done to: what comes before the dot. */
export type Noun = Action extends `${infer Name}.${string}` ? Name : never

/** What an action is done to. */
export function nounOf(action: Action): Noun {
  // Every action has a dot.
  return action.slice(0, action.indexOf('.')) as Noun
}

/** Those that the audit log has: progress has a history of its own. */
export const auditedActions = actions.filter((action) => !action.startsWith('progress.')) as readonly Action[]

/** What the audit log tells of: each noun once. */
export const auditedNouns = [...new Set(auditedActions.map(nounOf))]
