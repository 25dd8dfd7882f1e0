import { actions } from './actions.ts'

const nouns = ['course', 'lesson', 'user', 'enrollment', 'progress', 'grade'] as const
type Noun = (typeof nouns)[number]

/** What happens to the contents of an academy, as outgoing webhooks name it; who may sign in how is nobody else's business. */
export const eventTypes = actions.filter(isEvent)
/** One of them. */
export type EventType = Exclude<
  Extract<(typeof actions)[number], `${Noun}.${string}`>,
  'user.password_changed'
>

/** The event that a test of an endpoint sends; no pattern subscribes to it. */
export const testEvent = 'endpoint.test'

/** The events that a message may be of. */
export const messageTypes = [testEvent, ...eventTypes] as const

/** What an endpoint may subscribe to: everything, all events of a noun, or one event. */
export const eventPatterns = ['*', ...nouns.map((noun) => `${noun}.*` as const), ...eventTypes] as const
export type EventPattern = (typeof eventPatterns)[number]

/** True for an action that is an event. */
export function isEvent(action: string): action is EventType {
  return nouns.some((noun) => action.startsWith(`${noun}.`)) && action !== 'user.password_changed'
}

/** The patterns that an event fits. */
export function patternsOf(type: string): readonly string[] {
  return ['*', `${type.split('.', 1)[0]}.*`, type]
}

/** The fewest of some patterns that say the same: no event fits two of them. */
export function withoutOverlap(patterns: readonly string[]): readonly string[] {
  const all = new Set(patterns)
  return [...all].filter((pattern) => {
    const wider = pattern === '*' ? [] : patternsOf(pattern).filter((other) => other !== pattern)
    return !wider.some((other) => all.has(other))
  })
}
