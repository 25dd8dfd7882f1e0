import type { JsonObject } from '../../codec/json-object.ts'
import type { Change } from '../records/compare.ts'
import type { Entry, Part } from './entry.ts'

/** What has to be done about one record. */
export interface Action {
  readonly dataset: Part
  readonly kind: 'create' | 'update' | 'delete'
  readonly key: string
  /** What is declared; null for what is not, which is deleted. */
  readonly entry: Entry | null
  /** The record that is there; null for a new one. */
  readonly current: JsonObject | null
  /** Of an update. */
  readonly changes: readonly Change[]
}

/** What has to be done so that an academy is as declared. */
export interface Plan {
  /** In the order of the parts; those of a part in an order in which no name is taken when it is needed. */
  readonly actions: readonly Action[]
  /** How many records are as declared. */
  readonly unchanged: number
  /** What is left as it is, and why. */
  readonly notes: readonly string[]
  /** Records that are closed and stay as they are, in the order of the parts: opened while something of theirs is written. */
  readonly closed: readonly Action[]
  /** The places of all declared lessons of courses in which one is made or moved, by the keys of the courses. */
  readonly lessonPlaces: ReadonlyMap<string, readonly LessonPlace[]>
  /** Lessons that are left as they are. */
  readonly undeclared: readonly Undeclared[]
}

/** Where a lesson has to be in its course. */
export interface LessonPlace {
  /** Key of the record: that of its entry, without the place among equal lessons. */
  readonly key: string
  readonly order: number
  /** The id of one that is there already. */
  readonly id?: string | undefined
}

/** A lesson that is not declared, in a course of which lessons are. */
export interface Undeclared {
  readonly course: string
  readonly id: string
  readonly title: string
  /** True where a lesson is declared with this module and title, and is there as another one. */
  readonly isDuplicate: boolean
}

/** How many actions there are of each kind. */
export function summaryOf({
  actions,
  unchanged,
}: Plan): Readonly<Record<'create' | 'update' | 'delete' | 'unchanged', number>> {
  const count = (kind: Action['kind']) => actions.filter((action) => action.kind === kind).length
  return { create: count('create'), update: count('update'), delete: count('delete'), unchanged }
}
