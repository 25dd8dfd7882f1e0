/** Actions on each kind of record, as `<noun>.<past participle>`: names of audit entries and of events. */
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

/** The name of an action. */
export type Action = (typeof actions)[number]

/** The noun of an action: the part before the dot. */
export type Noun = Action extends `${infer Name}.${string}` ? Name : never

/** Returns the noun of an action. */
export function nounOf(action: Action): Noun {
  // Every action has a dot.
  return action.slice(0, action.indexOf('.')) as Noun
}

/** Actions in the audit log; progress has a history of its own instead. */
export const auditedActions = actions.filter((action) => !action.startsWith('progress.')) as readonly Action[]

/** Nouns in the audit log, without duplicates. */
export const auditedNouns = [...new Set(auditedActions.map(nounOf))]
