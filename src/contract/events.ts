import { actions } from './actions.ts'

const nouns = ['course', 'lesson', 'user', 'enrollment', 'progress', 'grade'] as const
type Noun = (typeof nouns)[number]

/** Event types of outgoing webhooks: changes to the contents of an academy, not to credentials. */
export const eventTypes = actions.filter(isEvent)
/** The name of an event type. */
export type EventType = Exclude<
  Extract<(typeof actions)[number], `${Noun}.${string}`>,
  'user.password_changed'
>

/** The event that a test of an endpoint sends; no pattern subscribes to it. */
export const testEvent = 'endpoint.test'

/** Types of messages to endpoints. */
export const messageTypes = [testEvent, ...eventTypes] as const

/** Patterns that an endpoint can subscribe to: everything, all events of a noun, or one event. */
export const eventPatterns = ['*', ...nouns.map((noun) => `${noun}.*` as const), ...eventTypes] as const
export type EventPattern = (typeof eventPatterns)[number]

/** True for an action that is an event. */
export function isEvent(action: string): action is EventType {
  return nouns.some((noun) => action.startsWith(`${noun}.`)) && action !== 'user.password_changed'
}

/** Returns the patterns that match an event type. */
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
