import type { JsonObject } from '../../codec/json-object.ts'
import type { EventType } from '../../contract/events.ts'

/** What was done to one thing, as the API shows it before and after; null where it was not there, or is no longer. */
export interface Changed {
  /** The noun, then what was done: `course.published`. */
  readonly action: string
  readonly id: string
  readonly before: object | null
  readonly after: object | null
}

/** The fields of each noun that its events carry: ids, and what is short. Whoever needs more asks for it by its id. */
export const eventFields: Readonly<Record<string, readonly string[]>> = {
  course: ['id', 'externalId', 'title', 'status', 'version', 'updatedAt'],
  lesson: ['id', 'externalId', 'courseId', 'moduleId', 'title', 'order', 'status', 'version', 'updatedAt'],
  user: ['id', 'externalId', 'email', 'role', 'status', 'version', 'updatedAt'],
  enrollment: [
    ...['id', 'courseId', 'courseExternalId', 'userId', 'userExternalId', 'role', 'status', 'enrolledAt'],
    ...['completedAt', 'source', 'version', 'updatedAt'],
  ],
  progress: [
    ...['learnerId', 'userExternalId', 'courseId', 'courseExternalId', 'completionPercentage', 'status'],
    ...['startedAt', 'lastAccessed', 'completedAt', 'version', 'updatedAt'],
  ],
  grade: [
    ...['id', 'learnerId', 'userExternalId', 'courseId', 'courseExternalId', 'itemId', 'source', 'label'],
    ...['scoreGiven', 'scoreMaximum', 'percent', 'published', 'gradedAt', 'version', 'updatedAt'],
  ],
}

/** What an event tells of a thing: as it is afterwards, or, where it is gone, as it was. */
export function dataOf(type: EventType, { before, after, id }: Changed): JsonObject {
  const noun = type.slice(0, type.indexOf('.'))
  // Of what is erased nothing is told.
  const thing = type.endsWith('.erased') ? {} : thingOf({ before, after })
  const data: JsonObject = noun === 'progress' ? {} : { id }
  for (const field of eventFields[noun] ?? []) if (Object.hasOwn(thing, field)) data[field] = thing[field]
  return data
}

/** Whom or what a change is about: the learner where there is one, else the course, else the thing itself. */
export function subjectOf({ before, after, id }: Changed): string {
  const thing = thingOf({ before, after })
  return String(thing['learnerId'] ?? thing['userId'] ?? thing['courseId'] ?? id)
}

function thingOf({ before, after }: Pick<Changed, 'before' | 'after'>): JsonObject {
  // What the API shows is JSON.
  return (after ?? before ?? {}) as JsonObject
}
