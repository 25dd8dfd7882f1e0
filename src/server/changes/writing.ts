import type { Origin } from '../access/principal.ts'
import type { Cell, Row, Transaction } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import type { BulkChange } from './bulk-change.ts'

/** Context of a write that is recorded: transaction, time, actor and origin. */
export interface Writing {
  readonly database: Transaction
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly principal: Actor
  readonly origin: Origin
  /** The change of many records that the write belongs to. */
  readonly change?: BulkChange | undefined
  /** What the items of a batch share; undefined for a single write. */
  readonly batch?: BatchWork | undefined
}

/** Kinds of rows whose changes analysts can ask for; the grade of a course follows from the grades of its items. */
export const changedKinds = [
  'user',
  'course',
  'lesson',
  'enrollment',
  'progress',
  'grade',
  'course_grade',
] as const

/** A row that was changed, restored or removed. Which of these it was, the row itself tells. */
export interface RowChange {
  readonly kind: (typeof changedKinds)[number]
  /** Id of the record; of progress its version, of the grade of a course nothing. */
  readonly id: string
  readonly userId: string | null
  readonly courseId: string | null
}

/** What the items of a batch share in its transaction, so that it is read or written once. */
export interface BatchWork {
  /** Rows that no item changes, by reference, such as the courses of enrolments. */
  readonly rows: Map<string, Row>
  /** Changed rows of the feed, which are written at the end. */
  readonly rowChanges: RowChange[]
  /** The last linked entry of the audit log, once it has been read. */
  link: AuditLink | undefined
  /** Rows of the audit log, which are written at the end. */
  readonly entries: Cell[][]
}

/** Place and hash of a linked entry of the audit log. */
export interface AuditLink {
  readonly place: number
  readonly hash: string
}

/** User and credential that act; null if unknown. */
export interface Actor {
  readonly userId: string | null
  /** Id of a key, grant or application, `local`, or `browser`. */
  readonly credential: string | null
}
