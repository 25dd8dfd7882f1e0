import type { JsonObject } from '../../codec/json-text.ts'
import type { Change } from '../records/compare.ts'
import type { Entry, Part } from './entry.ts'

/** Change to one record. */
export interface Action {
  readonly dataset: Part
  readonly kind: 'create' | 'update' | 'delete'
  readonly key: string
  /** Declared entry; null for a record to delete. */
  readonly entry: Entry | null
  /** Existing record; null for a new one. */
  readonly current: JsonObject | null
  /** Changed fields of an update. */
  readonly changes: readonly Change[]
}

/** Actions that make an academy match its declaration. */
export interface Plan {
  /** Ordered by part; within a part so that each name is free when it is needed. */
  readonly actions: readonly Action[]
  /** Number of records that already match. */
  readonly unchanged: number
  /** Records that are left unchanged, with the reason. */
  readonly notes: readonly string[]
  /** Closed records that do not change, by part: opened while records below them are written. */
  readonly closed: readonly Action[]
  /** Places of all declared lessons, by course key, of courses where a lesson is created or moved. */
  readonly lessonPlaces: ReadonlyMap<string, readonly LessonPlace[]>
  /** Undeclared lessons, which are left unchanged. */
  readonly undeclared: readonly Undeclared[]
}

/** Declared place of a lesson in its course. */
export interface LessonPlace {
  /** Key of the entry, without the number among equal lessons. */
  readonly key: string
  readonly order: number
  /** Id of an existing lesson. */
  readonly id?: string | undefined
}

/** Undeclared lesson of a course that has declared ones. */
export interface Undeclared {
  readonly course: string
  readonly id: string
  readonly title: string
  /** True if a declared lesson has the same module and title and exists as another record. */
  readonly isDuplicate: boolean
}

/** Counts actions by kind. */
export function summaryOf({
  actions,
  unchanged,
}: Plan): Readonly<Record<'create' | 'update' | 'delete' | 'unchanged', number>> {
  const count = (kind: Action['kind']) => actions.filter((action) => action.kind === kind).length
  return { create: count('create'), update: count('update'), delete: count('delete'), unchanged }
}
