import type { JsonObject } from '../../codec/json-text.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import { pluralise } from '../terminal/format-text.ts'

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
  return pluralise(count, nouns[dataset])
}

/** Place in a file; lines count from 1. */
export interface Place {
  readonly file: string
  readonly line: number
}

/** Record that a file declares. */
export interface Entry {
  readonly dataset: Part
  /** Unique key within its dataset: see `keyIn` in records/identity.ts. */
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

/** True for datasets whose records are always sent as wholes, new or not; they have no label. */
export function isSet({ operations }: Pick<Dataset, 'operations'>): boolean {
  return operations.update === undefined
}
