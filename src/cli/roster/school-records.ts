import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { externalKeyOf } from '../dataset/shown-records.ts'

/** Term of a school. The key of a record is its external id; its URL or id if it has none. */
export interface Term {
  readonly id: string
  readonly key: string
  readonly name: string
  /** First day, `2026-09-01`; null if open. */
  readonly startDate: string | null
  readonly endDate: string | null
}

export interface Course {
  readonly id: string
  readonly key: string
  readonly title: string
  readonly status: string
  readonly description: string
  readonly language: string | null
  readonly term: Term | null
  /** Shares of the grade, in the order of the course. */
  readonly weights: readonly { readonly name: string; readonly weight: number }[]
}

/** Person of a school: a learner or an instructor. */
export interface Person {
  readonly id: string
  readonly key: string
  readonly email: string
  readonly username: string
  readonly role: 'learner' | 'instructor'
  readonly isSuspended: boolean
  readonly firstName: string
  readonly lastName: string
  readonly displayName: string
}

export interface Enrolment {
  readonly userId: string
  readonly userKey: string
  readonly role: 'learner' | 'instructor'
  readonly status: string
  /** RFC 3339; empty if the platform does not say. */
  readonly enrolledAt: string
}

export type Member = Pick<Enrolment, 'userId' | 'userKey'>

export interface Group {
  readonly id: string
  readonly key: string
  readonly name: string
}

export interface Grade {
  readonly userKey: string
  readonly itemId: string
  readonly source: string
  readonly label: string
  /** Null for a cleared grade. */
  readonly scoreGiven: number | null
  readonly scoreMaximum: number
  /** Weight of its own; null for that of the course. */
  readonly weight: number | null
  readonly gradedAt: string
  readonly createdAt: string
  readonly published: boolean
}

export function termOf(shown: JsonObject): Term {
  const { id, name, startDate, endDate } = shown
  return {
    id: String(id),
    key: externalKeyOf(shown),
    name: textOf(name),
    startDate: textOf(startDate) || null,
    endDate: textOf(endDate) || null,
  }
}

/** Sorts in place. */
export function inKeyOrder<Item extends { readonly key: string }>(items: Item[]): Item[] {
  return items.sort((one, other) => compare(one.key, other.key))
}

export function gradeOf(shown: JsonObject, userKey: string): Grade {
  const { itemId, source, label, scoreGiven, scoreMaximum, weight, gradedAt, createdAt, published } = shown
  return {
    userKey,
    itemId: textOf(itemId),
    source: textOf(source),
    label: textOf(label),
    scoreGiven: typeof scoreGiven === 'number' ? scoreGiven : null,
    scoreMaximum: typeof scoreMaximum === 'number' ? scoreMaximum : 100,
    weight: typeof weight === 'number' ? weight : null,
    gradedAt: textOf(gradedAt),
    createdAt: textOf(createdAt),
    published: published !== false,
  }
}

export function weightsOf({ assessmentCriteria }: JsonObject): Course['weights'] {
  const weights = isJsonObject(assessmentCriteria) ? assessmentCriteria['weights'] : []
  if (!Array.isArray(weights)) return []
  return weights
    .filter(isJsonObject)
    .map(({ name, weight }) => ({ name: textOf(name), weight: Number(weight) }))
}

/** Empty for a value that is no text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** By characters, the same everywhere. */
export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
