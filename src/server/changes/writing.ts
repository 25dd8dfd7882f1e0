import sql, { bulk, join, type Sql } from 'sql-template-tag'
import type { Action } from '../../contract/actions.ts'
import type { Change } from '../../contract/changes.ts'
import { changeHeader, commandHeader, undoableNouns } from '../../contract/constants.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Origin, Principal } from '../access/principal.ts'
import type { Cell, Database, Row, Transaction } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import { contains } from '../database/search.ts'
import { ProblemError } from '../problem-error.ts'

export interface Writing {
  readonly database: Transaction
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly principal: Actor
  readonly origin: Origin
  readonly change?: BulkChange | undefined
  /** Undefined for a single write. */
  readonly batch?: BatchWork | undefined
}

/** Kinds of rows whose changes analysts can ask for; the grade of a course follows from the grades of its items. */
export const changedKinds = ['user', 'course', 'lesson', 'enrollment', 'progress', 'grade'] as const

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
  readonly rowChanges: RowChange[]
  /** Undefined until it is read. */
  link: AuditLink | undefined
  readonly entries: Cell[][]
}

export interface AuditLink {
  readonly place: number
  readonly hash: string
}

export interface Actor {
  readonly userId: string | null
  /** Id of a key, grant or application, `local`, or `browser`. */
  readonly credential: string | null
}

/** Days for which a change can be undone, and in which requests can belong to it. */
const undoDays = 30
const dayMs = 24 * 60 * 60 * 1000

/** ISO 8601 in UTC. */
export function undoableUntil(createdAt: string): string {
  return new Date(Date.parse(createdAt) + undoDays * dayMs).toISOString()
}

export interface BulkChange {
  readonly id: string
  readonly command?: string
  readonly counts: Map<Action, number>
}

export function countAction({ counts }: BulkChange, action: Action): void {
  counts.set(action, (counts.get(action) ?? 0) + 1)
}

const maxCommandLength = 100

interface AskingForChange {
  readonly database: Database
  readonly principal: Pick<Principal, 'userId' | 'role'>
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly operation: Pick<Operation, 'id'>
}

interface ChangeRow extends Row {
  readonly user_id: string
  readonly state: Change['state']
  readonly created_at: string
}

const undoableGroups = [...undoableNouns.map((noun) => `${noun}s`), 'integrations']

/**
 * Returns the change that a request belongs to: a running one, by its header, or one of its own, if it names a command.
 * Undefined without either header. Throws 400 unless a named change is a running one of the caller.
 */
export async function changeOf(
  { database, principal, now, newId, operation }: AskingForChange,
  headers: HttpHeaders,
): Promise<BulkChange | undefined> {
  const id = headers[changeHeader]
  if (id === undefined) {
    const command = headers[commandHeader]
    const isChange = command !== undefined && undoableGroups.includes(operation.id.split('.')[0] ?? '')
    if (!isChange || !['admin', 'instructor'].includes(principal.role)) return undefined
    return { id: newId('chg'), command: command.slice(0, maxCommandLength), counts: new Map() }
  }
  const row = await database.one<ChangeRow>(
    sql`select user_id, state, created_at from changes where id = ${id}`,
  )
  const isOpen = row?.user_id === principal.userId && row.state === 'running'
  if (isOpen && undoableUntil(row.created_at) > now) return { id, counts: new Map() }
  const detail = 'must be the id of a running change of your own'
  throw new ProblemError('invalid_parameter', `The header Change-Id ${detail}.`, {
    errors: [{ parameter: 'Change-Id', code: 'invalid_parameter', detail }],
  })
}

export function storeCounts(
  {
    database,
    principal,
    now,
  }: Pick<AskingForChange, 'principal' | 'now'> & { readonly database: Transaction },
  { id, command, counts }: BulkChange,
): void {
  if (counts.size === 0) return
  if (command !== undefined) {
    database.queue(sql`
      insert into changes (id, user_id, command, state, created_at, ended_at)
      values (${id}, ${principal.userId}, ${command}, 'completed', ${now}, ${now})`)
  }
  const slot = database.dialect.hasManyWriters ? Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) : 0
  const rows = [...counts].map(([action, total]) => [id, action, slot, total])
  database.queue(sql`
    insert into change_counts (change_id, action, slot, total) values ${bulk(rows)}
    on conflict (change_id, action, slot) do update set total = change_counts.total + excluded.total`)
}

/** Adds up the rows of a change that has ended: where many transactions write, each has added its own. */
export async function foldCounts(database: Transaction, id: string): Promise<void> {
  if (!database.dialect.hasManyWriters) return
  const totals = await database.all<Row & { action: string; total: number }>(totalsOf([id]))
  await database.run(sql`delete from change_counts where change_id = ${id}`)
  const rows = totals.map(({ action, total }) => [id, action, 0, total])
  if (rows.length === 0) return
  await database.run(sql`insert into change_counts (change_id, action, slot, total) values ${bulk(rows)}`)
}

export function totalsOf(ids: readonly string[]): Sql {
  return sql`
    select change_id, action, cast(sum(total) as bigint) as total from change_counts
    where change_id in (${join(ids)}) group by change_id, action order by change_id, action`
}

export async function eraseSources(database: Transaction, names: readonly (string | null)[]): Promise<void> {
  const found = names.flatMap((name) =>
    name === null ? [] : [contains(database.dialect.folded(sql`source`), name.toLowerCase())],
  )
  await database.run(
    sql`update changes set source = null where source is not null and (${join(found, ' or ')})`,
  )
}
