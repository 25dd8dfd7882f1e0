import sql, { join } from 'sql-template-tag'
import { type Action, nounOf } from '../../contract/actions.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import type { Database, Row } from '../database/database.ts'
import { timeOfId } from '../database/id.ts'
import { readCursor, writeCursor } from '../database/keyset.ts'
import {
  type AuditQuery,
  addressIn,
  type EntryRow,
  entryColumns,
  pageOfEntries,
  toEntry,
} from './audit-log.ts'

/** Between an entry of a run and the next one. */
const maxGapMs = 60_000
/** Fewer are listed by themselves. */
const minEntries = 3
/** Entries of a run that are read in full: its newest. */
const maxShown = 10
/** Entries read at first, and at a time after that. */
const firstChunk = 50
const nextChunk = 500
/** Newest first; the runs have no other order. */
const sort = '-at'

export interface Tally {
  readonly action: Action
  readonly entries: number
  /** Different subjects; entries without one count each. */
  readonly subjects: number
}

/** Entries that follow each other closely, of one user with one credential from one address; or one entry. */
export interface EntryRun {
  readonly entries: number
  readonly newestAt: string
  readonly oldestAt: string
  /** The oldest action first. */
  readonly tallies: readonly Tally[]
  /** The newest entries, the newest first. */
  readonly shown: readonly [AuditEntry, ...AuditEntry[]]
  /** The page before ends with a part of this run. */
  readonly isContinued: boolean
  /** The next page begins with a part of this run. */
  readonly continues: boolean
}

interface RunBounds {
  readonly runs: number
  readonly entries: number
}

/** What decides to which run an entry belongs. The head of `details` has the salt and the request id. */
interface HeadRow extends Row {
  readonly id: string
  readonly user_id: string | null
  readonly credential: string | null
  readonly action: string
  readonly subject_id: string | null
  readonly origin: string | null
  readonly details_head: string | null
}
const headColumns = sql`a.id, a.user_id, a.credential, a.action, a.subject_id, a.origin, substr(a.details, 1, 100) as details_head`
const requestIdForm = /^\["[^"]*","([^"\\]+)"/

interface Head {
  readonly id: string
  readonly at: string
  /** User, credential and address. */
  readonly actor: string
  readonly action: Action
  readonly subjectId: string | null
  readonly requestId: string | undefined
}

/**
 * A page of the log as runs, newest first. It looks at a bounded number of entries: a run that is longer continues on
 * the next page. Cursors are those of the list of entries.
 */
export async function pageOfRuns(
  database: Database,
  query: Omit<AuditQuery, 'sort' | 'limit' | 'include_total'>,
  bounds: RunBounds,
): Promise<{ readonly data: readonly EntryRun[]; readonly nextCursor: string | null }> {
  const { runs, nextCursor, isCut } = await readRuns(database, query, bounds)
  const rows = runs.flatMap((run) => (run.length < minEntries ? run.map((head) => [head]) : [run]))
  const listed = rows.slice(0, bounds.runs)
  const entries = await entriesOf(
    database,
    listed.flatMap((run) => run.slice(0, maxShown)),
  )
  const before = query.cursor === undefined ? undefined : await headAt(database, query.cursor)
  const isFull = listed.length < rows.length
  const last = listed.at(-1)?.at(-1)
  return {
    data: listed.flatMap((run, index) =>
      toRun(run, entries, {
        isContinued: index === 0 && before !== undefined && isNext([before], run[0]),
        continues: isCut && !isFull && index === listed.length - 1,
      }),
    ),
    nextCursor: isFull && last ? writeCursor(sort, last.id, last.id) : nextCursor,
  }
}

/** Stops at a full page or at its limit of entries. */
async function readRuns(database: Database, query: Parameters<typeof pageOfRuns>[1], bounds: RunBounds) {
  const runs: Head[][] = []
  let cursor = query.cursor
  let examined = 0
  for (;;) {
    // An entry beyond the limit shows whether the last run continues.
    const limit = Math.min(examined === 0 ? firstChunk : nextChunk, bounds.entries + 1 - examined)
    const chunkQuery = { ...query, cursor, sort, limit, include_total: false } as const
    const { data, nextCursor } = await pageOfEntries<HeadRow, Head>(database, chunkQuery, headColumns, toHead)
    for (const head of data) {
      const run = runs.at(-1)
      const isOfRun = run !== undefined && isNext(run, head)
      examined += 1
      if (examined > bounds.entries || (runs.length === bounds.runs && !isOfRun)) {
        const last = run?.at(-1)
        return { runs, nextCursor: last ? writeCursor(sort, last.id, last.id) : null, isCut: isOfRun }
      }
      if (isOfRun) run.push(head)
      else runs.push([head])
    }
    // A chunk that is not full has reached the limit of entries that one query examines.
    if (nextCursor === null || data.length < limit) return { runs, nextCursor, isCut: false }
    cursor = nextCursor
  }
}

/**
 * True if an entry belongs to a run whose last entry it follows: it is by the same actor, soon after, and of the same
 * request or of an action that the run has. An import creates or updates, row by row: both are one action here.
 */
function isNext(run: readonly Head[], head: Head | undefined): boolean {
  const last = run.at(-1)
  if (!head || !last || head.actor !== last.actor) return false
  if (Date.parse(last.at) - Date.parse(head.at) > maxGapMs) return false
  if (head.requestId !== undefined && head.requestId === last.requestId) return true
  return run.some(({ action }) => kindOf(action) === kindOf(head.action))
}

function kindOf(action: Action): string {
  return action === `${nounOf(action)}.updated` ? `${nounOf(action)}.created` : action
}

function toHead(row: HeadRow): Head {
  return {
    id: row.id,
    at: timeOfId(row.id),
    actor: JSON.stringify([row.user_id, row.credential, addressIn(row.origin)]),
    action: row.action as Action,
    subjectId: row.subject_id,
    requestId: requestIdForm.exec(row.details_head ?? '')?.[1],
  }
}

async function headAt(database: Database, cursor: string): Promise<Head | undefined> {
  const [, id = ''] = readCursor(cursor, sort, 2)
  const row = await database.one<HeadRow>(sql`select ${headColumns} from audit_entries a where a.id = ${id}`)
  return row && toHead(row)
}

async function entriesOf(
  database: Database,
  heads: readonly Head[],
): Promise<ReadonlyMap<string, AuditEntry>> {
  if (heads.length === 0) return new Map()
  const rows = await database.all<EntryRow>(sql`
    select ${entryColumns} from audit_entries a where a.id in (${join(heads.map(({ id }) => id))})`)
  return new Map(rows.map((row) => [row.id, toEntry(row)]))
}

export function runOfOne(entry: AuditEntry): EntryRun {
  const { at, action } = entry
  return {
    entries: 1,
    newestAt: at,
    oldestAt: at,
    tallies: [{ action, entries: 1, subjects: 1 }],
    shown: [entry],
    isContinued: false,
    continues: false,
  }
}

function toRun(
  run: readonly Head[],
  entries: ReadonlyMap<string, AuditEntry>,
  ends: Pick<EntryRun, 'isContinued' | 'continues'>,
): readonly EntryRun[] {
  const [newest, ...others] = run.slice(0, maxShown).flatMap(({ id }) => entries.get(id) ?? [])
  if (!newest) return []
  const subjects = new Map<Action, string[]>()
  for (const { action, subjectId, id } of [...run].reverse()) {
    const ids = subjects.get(action) ?? []
    ids.push(subjectId ?? id)
    subjects.set(action, ids)
  }
  const tallies = [...subjects].map(([action, ids]) => ({
    action,
    entries: ids.length,
    subjects: new Set(ids).size,
  }))
  return [
    {
      entries: run.length,
      newestAt: run[0]?.at ?? '',
      oldestAt: run.at(-1)?.at ?? '',
      tallies,
      shown: [newest, ...others],
      ...ends,
    },
  ]
}
