import type { JsonObject } from '../../codec/json-object.ts'
import { wholeCourse } from '../../contract/whole-course.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import { counted } from '../terminal/counted.ts'

/** Parts of an academy, in the order in which their records are written: each refers to earlier parts. */
export const parts = [
  'users',
  'courses',
  'lessons',
  'enrollments',
  'progress',
  'grades',
] as const satisfies readonly DatasetName[]
export type Part = (typeof parts)[number]

/** Nouns for one record of each dataset. */
export const nouns = {
  users: 'user',
  courses: 'course',
  lessons: 'lesson',
  enrollments: 'enrolment',
  progress: 'progress record',
  grades: 'grade',
} as const satisfies Readonly<Record<Part, string>>

/** Returns a count in words: `1 course`. */
export function countText(dataset: Part, count: number): string {
  return counted(count, nouns[dataset])
}

/** Place in a file; lines count from 1. */
export interface Place {
  readonly file: string
  readonly line: number
}

/** Record that a file declares. */
export interface Entry {
  readonly dataset: Part
  /** Unique key within its dataset: see `keyIn`. */
  key: string
  /** Complete for courses and lessons, otherwise only the declared fields; references have the form of keys. */
  record: JsonObject
  readonly place: Place
  /** Steps of progress in order; the last one is the record. */
  readonly steps?: readonly JsonObject[]
  /** Id of the record that a saved plan found for this entry; null for a new record. */
  readonly plannedId?: string | null
  /** Password as written in the file, with `${NAME}` for environment variables. */
  readonly password?: string
}

/** Declared records in the order of the files, by part. */
export type Declared = ReadonlyMap<Part, readonly Entry[]>

/** `academy.yaml:12`. */
export function placeText({ file, line }: Place): string {
  return `${file}:${line}`
}

const separator = '\n'

/** True for datasets whose records are always sent as wholes, new or not; they have no label. */
export function isSet({ operations }: Pick<Dataset, 'operations'>): boolean {
  return operations.update === undefined
}

/**
 * Returns the key of a record; null if it has none. A user's is `ext:` and the external id, else `email:` and the
 * address in lower case; a course's `ext:` and the external id; a lesson's the same, else its course, module and
 * title; enrolments and progress use the keys of their course and user, grades also their item and source.
 */
export function keyIn(dataset: Part, record: JsonObject): string | null {
  const { externalId, email, title, module, courseId, userId, learnerId, role = 'learner' } = record
  const { itemId = wholeCourse, source = 'manual' } = record
  const external = typeof externalId === 'string' ? `ext:${externalId}` : null
  switch (dataset) {
    case 'users':
      return external ?? (typeof email === 'string' ? emailKey(email) : null)
    case 'courses':
      return external
    case 'lessons':
      return external ?? [courseId, module ?? '', title].join(separator)
    case 'enrollments':
      return [courseId, userId, role].join(separator)
    case 'progress':
      return [courseId, learnerId].join(separator)
    case 'grades':
      return [courseId, learnerId, itemId, source].join(separator)
  }
}

/** Returns the key of a lesson without an external id among others with the same `key`; `place` counts from 1. */
export function keyAmongEquals(key: string, place: number): string {
  return place === 1 ? key : `${key}${separator}${place}`
}

/** Returns the key of a user by e-mail address, in lower case. */
export function emailKey(email: string): string {
  return `email:${email.trim().toLowerCase()}`
}

/** Returns a key for display: `ext:BIO-101, ext:42, learner`. */
export function keyText(key: string): string {
  return key
    .split(separator)
    .filter((part) => part !== '')
    .join(', ')
}
