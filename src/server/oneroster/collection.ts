import sql, { type Sql } from 'sql-template-tag'
import type { School } from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/page.ts'
import { type Filter, type FilterCondition, timeIn } from './query.ts'

export type Version = '1.1' | '1.2'

/** `rostering` and `gradebook` are the bases of the addresses in references. */
export interface Asking {
  readonly database: Database
  readonly version: Version
  readonly school: School
  /** Without a trailing slash. */
  readonly rostering: string
  readonly gradebook: string
}

export interface Scope {
  readonly courseId?: string
  /** Null for courses without a term. */
  readonly termId?: string | null
  readonly userId?: string
  readonly role?: 'learner' | 'instructor'
  readonly itemId?: string
}

export interface Narrowing {
  readonly status: 'active' | 'tobedeleted' | undefined
  /** Inclusive, ISO 8601 in UTC. */
  readonly since: string | undefined
  readonly values: ReadonlyMap<string, string>
  readonly isWhole: boolean
}

export interface TablePart {
  readonly columns: Sql
  readonly from: Sql
  /** Conditions that an index decides together with the order. */
  readonly where?: readonly Condition[]
  /** Expressions that the rows are sorted by, together unique. */
  readonly by: readonly Sql[]
  /** Condition of rows that are records; default all. */
  readonly isIn?: Sql
  /** Condition of records that are active; default all. */
  readonly isActive?: Sql
  /** False if a row may be no record, or several. */
  readonly isSingle?: false
  readonly show: (
    rows: readonly Row[],
  ) => Promise<readonly (readonly object[])[]> | readonly (readonly object[])[]
}

interface FixedPart {
  readonly records: readonly object[]
}

export type Part = TablePart | FixedPart

export interface Collection {
  readonly plural: string
  readonly singular: string
  readonly fields: readonly string[]
  /**
   * Returns where the records are, in any order or by `dateLastModified`; null if there is no index for that.
   */
  readonly parts: (
    asking: Asking,
    scope: Scope,
    narrowing: Narrowing,
    byModified: boolean,
  ) => Promise<readonly Part[] | null>
}

/** Only values that every record has that meets the filter. */
export function narrowingOf(filter: Filter | undefined): Narrowing {
  const conditions = filter?.length === 1 ? (filter[0] ?? []) : []
  const values = new Map(
    conditions.filter(({ predicate }) => predicate === '=').map(({ field, value }) => [field, value]),
  )
  const status = values.get('status')?.toLowerCase()
  const times = conditions.flatMap((condition) => sinceIn(condition) ?? [])
  const isStatus = status === 'active' || status === 'tobedeleted'
  const decided = (isStatus ? 1 : 0) + times.length
  return {
    status: isStatus ? status : undefined,
    since: times.toSorted().at(-1),
    values,
    isWhole: filter === undefined || (filter.length === 1 && decided === conditions.length),
  }
}

function sinceIn({ field, predicate, value }: FilterCondition): string | undefined {
  const time = timeIn(value)
  if (field !== 'dateLastModified' || time === undefined) return undefined
  if (predicate === '>') return new Date(Date.parse(time) + 1).toISOString()
  return predicate === '>=' ? time : undefined
}

interface Ref {
  readonly href: string
  readonly sourcedId: string
  readonly type: string
}

type RefType = 'academicSession' | 'category' | 'class' | 'course' | 'lineItem' | 'org' | 'user'

const places: Readonly<Record<RefType, string>> = {
  academicSession: 'academicSessions',
  category: 'categories',
  class: 'classes',
  course: 'courses',
  lineItem: 'lineItems',
  org: 'orgs',
  user: 'users',
}

export function refTo(asking: Asking, type: RefType, sourcedId: string): Ref {
  const base = type === 'category' || type === 'lineItem' ? asking.gradebook : asking.rostering
  return { href: `${base}/${places[type]}/${encodeURIComponent(sourcedId)}`, sourcedId, type }
}

export const baseFields = ['sourcedId', 'status', 'dateLastModified'] as const

/** For records that never change. */
export const beginningOfTime = '1970-01-01T00:00:00.000Z'

export function active(sourcedId: string, dateLastModified: string, isActive = true) {
  return { sourcedId, status: isActive ? 'active' : 'tobedeleted', dateLastModified }
}

const nothing: readonly object[] = []

export function partOf<Shape extends Row>(
  part: Omit<TablePart, 'show'>,
  show: (row: Shape) => object | undefined,
): TablePart {
  return {
    ...part,
    // The shape lists the columns.
    show: (rows) =>
      rows.map((row) => {
        const record = show(row as Shape)
        return record ? [record] : nothing
      }),
  }
}

export function since(narrowing: Narrowing, byModified: boolean, modified: Sql): Condition {
  return byModified && narrowing.since !== undefined && sql`${modified} >= ${narrowing.since}`
}

export async function idNamed(
  database: Database,
  table: 'terms' | 'users' | 'courses' | 'deleted_courses',
  sourcedId: string,
): Promise<string | undefined> {
  const query = {
    terms: (by: Sql) => sql`select id from terms where ${by}`,
    users: (by: Sql) => sql`select id from users where ${by}`,
    courses: (by: Sql) => sql`select id from courses where ${by}`,
    deleted_courses: (by: Sql) => sql`select id from deleted_courses where ${by}`,
  }[table]
  const external = await database.one<{ id: string }>(query(sql`external_id = ${sourcedId}`))
  if (external) return external.id
  const own = await database.one<{ id: string }>(query(sql`id = ${sourcedId} and external_id is null`))
  return own?.id
}
