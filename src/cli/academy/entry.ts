import type { JsonObject } from '../../codec/json-object.ts'
import { wholeCourse } from '../../contract/whole-course.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import { counted } from '../terminal/counted.ts'

/** The parts of an academy, in the order in which their records are written: each refers to those before it. */
export const parts = [
  'users',
  'courses',
  'lessons',
  'enrollments',
  'progress',
  'grades',
] as const satisfies readonly DatasetName[]
export type Part = (typeof parts)[number]

/** What one record of each dataset is called. */
export const nouns = {
  users: 'user',
  courses: 'course',
  lessons: 'lesson',
  enrollments: 'enrolment',
  progress: 'progress record',
  grades: 'grade',
} as const satisfies Readonly<Record<Part, string>>

/** How many records of a dataset there are, in words: `1 course`. */
export function countText(dataset: Part, count: number): string {
  return counted(count, nouns[dataset])
}

/** A place in a file, from line 1. */
export interface Place {
  readonly file: string
  readonly line: number
}

/** One record that a file declares. */
export interface Entry {
  readonly dataset: Part
  /** What tells it from all others of its dataset: see `keyIn`. */
  key: string
  /** Courses and lessons as wholes, all others what the file says; references as in keys. */
  record: JsonObject
  readonly place: Place
  /** The steps of progress in their order, the last of which is the record. */
  readonly steps?: readonly JsonObject[]
  /** Id of the record that a saved plan found for this entry; null for a new record. */
  readonly plannedId?: string | null
  /** The password as the file has it, with `${NAME}` for what comes from the environment. */
  readonly password?: string
}

/** What files declare: the parts that they have, each with its records in their order. */
export type Declared = ReadonlyMap<Part, readonly Entry[]>

/** `academy.yaml:12`. */
export function placeText({ file, line }: Place): string {
  return `${file}:${line}`
}

const separator = '\n'

/** True for records that are always sent as wholes, whether they are there or not; they carry no label. */
export function isSet({ operations }: Pick<Dataset, 'operations'>): boolean {
  return operations.update === undefined
}

/**
 * The key of a record: a user is `ext:` and the external id, else `email:` and the address in small letters; a course
 * `ext:` and the external id; a lesson, too, else its course, module and title; an enrolment and progress have the keys of
 * their course and their user, a grade its item and source, too. Null where it has none.
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

/** The key of the lesson at this place, from 1, among those that `key` is the key of: lessons without an external id. */
export function keyAmongEquals(key: string, place: number): string {
  return place === 1 ? key : `${key}${separator}${place}`
}

/** The key of a user by the e-mail address, whose case does not count. */
export function emailKey(email: string): string {
  return `email:${email.trim().toLowerCase()}`
}

/** A key as it is shown: `ext:BIO-101, ext:42, learner`. */
export function keyText(key: string): string {
  return key
    .split(separator)
    .filter((part) => part !== '')
    .join(', ')
}
