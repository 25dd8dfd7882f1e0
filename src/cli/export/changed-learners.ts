import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { makeDirectory, readRegularFile } from '../../config/files.ts'
import { platformName } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import type { LearnerChange, LearnerChangePage } from '../../contract/data-tables.ts'
import type { Context } from '../command/context.ts'
import { labelColumns } from '../output/columns.ts'
import { typeColumns } from '../output/formats/format.ts'
import { type ExportTarget, encodedSource, writeExport } from '../targets/write-export.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { type LearnersQuery, learnerRows } from './learner-export.ts'
import { listEncoder, type RowForm, resolveColumns, rowColumns } from './row-encoder.ts'

/** Place up to which an export has the changes of a platform. */
interface ExportState {
  readonly kind: typeof kind
  readonly version: 1
  readonly platform: string
  /** The filters are the same each time. */
  readonly courses: string | null
  readonly learners: string | null
  readonly until: string
}

const kind = 'learnctl export'
const maxStateBytes = 64 * 1024
const stateName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** Filters that no change of a record can end. */
const lastingFilters = ['course_id', 'learner_id']

interface ChangedExport extends RowForm, ExportTarget {
  readonly query: LearnersQuery
  /** Path of the file, or the name of one in the state directory. */
  readonly since: string
  readonly flagOf: (parameter: string) => string
}

/**
 * Exports the rows that have changed since the last export with the same state, or all rows the first time; a column says which
 * of them were removed. The state is replaced once the export is complete.
 */
export async function exportChangedLearners(
  context: Context,
  caller: Caller,
  wanted: ChangedExport,
): Promise<void> {
  const { query, since, flagOf } = wanted
  const other = Object.keys(query).find((name) => !lastingFilters.includes(name))
  if (other) {
    throw new UsageError(`--since-last and ${flagOf(other)} cannot be used together`, {
      why: ['A row that no longer matches would not be known as removed'],
    })
  }
  if (wanted.sheet) throw new UsageError('--since-last and --to-sheet cannot be used together')
  const path = statePath(context, since)
  const identity = {
    platform: platformName(context.session.target()),
    courses: textOf(query.course_id),
    learners: textOf(query.learner_id),
  }
  const before = readState(path, identity)
  const columns = chosenColumns(wanted.columns)
  const typed = () => typeColumns(columns, calls.analytics.learners.id)
  const form = { csv: columns, table: columns, chosen: wanted.columns && columns, typed }
  let until = before?.until ?? (await changesAfter(context, caller, {}, undefined)).until

  async function* allRows() {
    const wanted = { operation: calls.analytics.learners, query }
    for await (const texts of learnerRows(caller, wanted, context.io.signal)) {
      yield texts.map((text) => ({ ...(JSON.parse(text) as object), [stateColumn]: 'current' }))
    }
  }

  async function* changedRows() {
    const changed = new Map<string, LearnerChange>()
    for (;;) {
      const page: LearnerChangePage = await changesAfter(context, caller, query, until)
      for (const row of page.data) {
        const key = `${row.learnerId} ${row.courseId}`
        // In the order of the last change: a removed course that was restored has its rows after it.
        changed.delete(key)
        changed.set(key, row)
      }
      until = page.until
      if (page.nextCursor === null) break
    }
    yield [...changed.values()].map(({ learnerId, courseId, state, row }) => ({
      ...Object.fromEntries(rowColumns.map((name) => [name, null])),
      ...(row ?? { learnerId, courseId }),
      [stateColumn]: state,
    }))
  }

  try {
    const load = () => listEncoder(context, wanted, form)
    await writeExport(context, wanted, async () => encodedSource(before ? changedRows() : allRows(), load))
  } catch (error) {
    throw error instanceof ApiError && error.code === 'changes_gone' ? gone(error, path) : error
  }
  await writeState(context, path, { kind, version: 1, ...identity, until })
}

/** Column that tells whether a row is there. */
const stateColumn = 'changeState'

function chosenColumns(names: readonly string[] | null) {
  const all = [...rowColumns, stateColumn]
  if (names === null) return labelColumns(all, all)
  const sample = Object.fromEntries(all.map((name) => [name, null]))
  return resolveColumns(names.includes(stateColumn) ? names : [...names, stateColumn], [sample])
}

async function changesAfter(
  { io: { signal } }: Context,
  caller: Caller,
  query: LearnersQuery,
  after: string | undefined,
): Promise<LearnerChangePage> {
  const input = { query: { ...query, ...(after !== undefined && { after }) }, signal }
  return (await caller.call(calls.analytics.learnerChanges, input as object)).data
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : String(value)
}

/** A name is one in the state directory. */
function statePath({ io, directories }: Context, given: string): string {
  if (stateName.test(given)) return join(directories.state, 'exports', `${given}.json`)
  if (/[\\/]|\.json$/.test(given)) return resolve(io.cwd, given)
  throw new UsageError(`--since-last must be a name or a file, not ${JSON.stringify(given)}`, {
    why: ['A name has letters, digits, - and _; a file ends in .json or has a path'],
  })
}

/** Reads the state of the last export; null before the first. Throws a UsageError for one of another platform or filter. */
function readState(
  path: string,
  identity: Pick<ExportState, 'platform' | 'courses' | 'learners'>,
): Pick<ExportState, 'until'> | null {
  if (!existsSync(path)) return null
  const state = parseJsonOrNull(readRegularFile(path, maxStateBytes))
  const hint = `Use another name, or remove ${path} to export all rows again`
  if (!isJsonObject(state) || state['kind'] !== kind || state['version'] !== 1) {
    throw new UsageError(`${path} is not the state of an export`, { hint })
  }
  for (const [field, value] of Object.entries(identity)) {
    if (state[field] === value) continue
    throw new UsageError(
      `${path} is the state of an export with other ${field === 'platform' ? 'data' : field}`,
      {
        why: [`It was ${state[field] ?? 'all'}, and is ${value ?? 'all'} now`],
        hint,
      },
    )
  }
  return { until: String(state['until']) }
}

async function writeState({ io, directories }: Context, path: string, state: ExportState): Promise<void> {
  if (path.startsWith(join(directories.state, 'exports'))) {
    makeDirectory(join(directories.state, 'exports'), 'XDG_STATE_HOME')
  }
  await writeTarget(io.cwd, path, [`${JSON.stringify(state, null, 2)}\n`], { force: true, mode: 0o600 })
}

function gone(cause: ApiError, path: string): CommandError {
  return new CommandError('changes_gone', 'conflict', 'What has changed since the last export is not known', {
    cause,
    why: [
      'The platform is another one, was restored from a backup, or the last export was more than 180 days ago',
    ],
    hint: `Remove ${path} to export all rows again`,
  })
}
