import type { Person } from '../../helpers/academy.ts'

/** Makes a published course; returns its id. */
export async function makeCourse(admin: Person, more: object = {}): Promise<string> {
  return (await admin.post('/v1/courses', { title: 'Logic', status: 'published', ...more })).body.id
}

/** Sets progress as this user, at a time of that day. */
export function progressSetter(person: Person, { id }: Pick<Person, 'id'>, courseId: string) {
  return (completionPercentage: unknown, time?: string, headers: Record<string, string> = {}) =>
    person.put(
      `/v1/learners/${id}/progress`,
      { courseId, completionPercentage, ...(time ? { lastAccessed: `2026-03-01T${time}:00Z` } : {}) },
      headers,
    )
}
