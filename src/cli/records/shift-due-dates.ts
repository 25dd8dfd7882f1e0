import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Names } from '../dataset/names.ts'
import { pluralise } from '../terminal/format-text.ts'

const dayMs = 86_400_000

/** Lessons of a copy, and a note on their due dates; null if there is nothing to say. */
interface ShiftedLessons {
  readonly lessons: readonly JsonObject[]
  readonly note: string | null
}

/**
 * Shifts the due dates of lessons and their assessments by the days between the first days of two terms. Keeps them if one
 * of the terms or days is missing.
 */
export function shiftDueDates(
  lessons: readonly JsonObject[],
  from: JsonObject | null,
  to: JsonObject | null,
): ShiftedLessons {
  const count = lessons.filter(hasDueDate).length
  if (count === 0) return { lessons, note: null }
  const [start, end] = [firstDay(from), firstDay(to)]
  const subject = `Due dates of ${pluralise(count, 'lesson')}`
  if (start === null || end === null) {
    const why = start === null ? 'the course has no term with a first day' : 'the new term has no first day'
    return { lessons, note: `${subject} stay as they are: ${why}` }
  }
  const days = Math.round((end - start) / dayMs)
  if (days === 0) return { lessons, note: null }
  const direction = days > 0 ? 'later' : 'earlier'
  return {
    lessons: lessons.map((lesson) => shifted(lesson, days)),
    note: `${subject} are ${pluralise(Math.abs(days), 'day')} ${direction}, as the first day of the term is; --keep-dates leaves them`,
  }
}

/** Returns the terms of a copy: that of its source and the new one. */
export async function termsOfCopy(
  source: { readonly names: Pick<Names, 'term'>; readonly termId: unknown },
  target: { readonly names: Pick<Names, 'term'>; readonly term: string },
): Promise<readonly [JsonObject | null, JsonObject | null]> {
  const { termId } = source
  return [
    typeof termId === 'string' ? await source.names.term(termId) : null,
    await target.names.term(target.term),
  ]
}

function firstDay(term: JsonObject | null): number | null {
  const day = term?.['startDate']
  return typeof day === 'string' ? Date.parse(day) : null
}

function assessmentsIn({ assessments }: JsonObject): readonly JsonObject[] {
  return Array.isArray(assessments) ? assessments.filter(isJsonObject) : []
}

function hasDueDate(lesson: JsonObject): boolean {
  return [lesson, ...assessmentsIn(lesson)].some(({ dueAt }) => typeof dueAt === 'string')
}

function shifted(lesson: JsonObject, days: number): JsonObject {
  const later = <Thing extends JsonObject>(thing: Thing) =>
    typeof thing['dueAt'] === 'string'
      ? { ...thing, dueAt: new Date(Date.parse(thing['dueAt']) + days * dayMs).toISOString() }
      : thing
  const assessments = assessmentsIn(lesson)
  return { ...later(lesson), ...(assessments.length > 0 && { assessments: assessments.map(later) }) }
}
