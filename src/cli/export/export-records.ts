import type { AnyInput, Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { mayDiffer, platformName } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices } from '../command/flag.ts'
import { cellOf } from '../dataset/cell.ts'
import type { Column } from '../dataset/column.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { createNames } from '../dataset/names.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { showRequest } from '../operation/dry-run.ts'
import { assertSeveralOffered, judgeList } from '../operation/judge-list.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { labelColumns, leavesOf, resolvePath, setAt, valueAt } from '../output/columns.ts'
import { hiddenNote, type ListEncoder } from '../output/formats/format.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { allColumnsFlag, exportOptionsOf, historyFlag } from './export-options.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'
import { expectedRows, type Source, writeExport } from './write-export.ts'

/** Page size for lessons and courses, which may be large. */
const largeRecordLimit = 20

/**
 * Exports the records of a dataset to the target of the flags.
 *
 * @param order stable order, in which no record moves during the export; null if the list has only that one
 * @param filters flags of the list's parameters
 */
export async function exportRecords(
  context: Context,
  given: Given,
  { dataset: name, order: usualOrder }: { readonly dataset: DatasetName; readonly order: string | null },
  filters: readonly BoundFlag[],
): Promise<void> {
  const { io, session, settings } = context
  const asked = exportOptionsOf(settings, given)
  const caller = await session.caller()
  const dataset = await loadDataset(name)
  const { history, all, list: usual } = dataset.operations
  const shown: Call = (given.flags[historyFlag.name] === true ? history : all) ?? usual
  const list: Operation = shown
  checkOwnChoices(session.target(), filters, given.flags)
  const flagOf = (parameter: string) =>
    `--${filters.find(({ place }) => place === parameter)?.flag.name ?? parameter}`
  const query = queryOf(filters, given.flags)
  const foreign = Object.keys(query).find(
    (name) => shown === history && !Object.hasOwn(list.filters ?? {}, name),
  )
  if (foreign !== undefined) throw new UsageError(`--history and ${flagOf(foreign)} cannot be used together`)
  const columns = recordColumns(dataset, shown, asked.columns, given.flags[allColumnsFlag.name] === true)
  const limit = ['courses', 'lessons'].includes(name) ? largeRecordLimit : maxPageSize
  const input: AnyInput = {
    query: { ...query, limit },
    signal: io.signal,
  }
  if (settings.dryRun.value) return showRequest(context, caller.request(list, withOrder(input, usualOrder)))

  await assertSeveralOffered(context, caller, { operation: list, query }, flagOf)
  const judged = judgeList(context, caller, { operation: list, query, flagOf, flags: given.flags })
  await writeExport(
    context,
    asked,
    () => {
      const pages = judged.pages(orderedPages(caller, list, input, usualOrder))
      return recordSource(context, caller, pages, { ...asked, dataset, list: shown, columns })
    },
    () => expectedRows(context, caller, list, query),
    () => judged.assertJudged(),
  )
  await judged.note()
  await judged.noteOrder(null)
}

/** Sets the order of a list unless the input has one; null keeps the list's own. */
export function withOrder(input: AnyInput, order: string | null): AnyInput {
  return order === null ? input : { ...input, query: { sort: order, ...input.query } }
}

/**
 * Yields all pages of a list in a stable order. If another platform refuses that order, which the user did
 * not choose, uses its default order.
 *
 * @param order default order; null if the list has only one
 */
async function* orderedPages(
  caller: Caller,
  list: Operation,
  input: AnyInput,
  order: string | null,
): AsyncGenerator<Page<Operation>> {
  const unasked = order !== null && input.query?.['sort'] === undefined
  let begun = false
  try {
    for await (const page of caller.pages(list, withOrder(input, order))) {
      begun = true
      yield page
    }
  } catch (error) {
    const refused =
      error instanceof ApiError && !error.coded && [400, 422].includes(error.status) && unasked && !begun
    if (!refused) throw error
    yield* caller.pages(list, input)
  }
}

/** The records to export, and their form. */
interface WantedRecords extends Omit<RowForm, 'columns'> {
  readonly dataset: Dataset
  /** The operation that lists them. */
  readonly list: Call
  readonly columns: RecordColumns
}

/** Yields the records of a list in the form that files have. */
async function recordSource(
  context: Context,
  caller: Caller,
  pages: AsyncIterable<Pick<Page<Operation>, 'data' | 'strict'>>,
  wanted: WantedRecords,
): Promise<Source> {
  const { dataset, columns } = wanted
  const names = createNames(caller, context.io.signal)
  const encoder = await encoderOf(context, wanted)
  const target = context.session.target()
  const host = platformName(target)
  const differs = mayDiffer(target)
  // Platforms never return fields that only an import sends.
  const absent = new Set(columns.shown.filter(({ path }) => !(path in (dataset.presumed ?? {}))))
  let rows = 0
  let lacking = 0
  let unanswered = 0

  async function rowOf(shown: unknown): Promise<JsonObject> {
    if (!isJsonObject(shown)) {
      throw new CommandError('invalid_row', 'failure', `${host} sent a ${dataset.noun} that is not an object`)
    }
    const record = orderFields(dataset, await dataset.toRecord(shown, names))
    if (hidesAnswers(record)) unanswered += 1
    for (const { path, kind } of dataset.columns) {
      // Other platforms may have numbers as ids, where an import takes text.
      const value = differs && kind === 'text' ? valueAt(record, path) : undefined
      if (typeof value === 'number' || typeof value === 'bigint')
        setAt(record, path.split('.'), String(value))
    }
    for (const path of columns.made) {
      const value = valueAt(shown, path)
      if (value !== undefined) setAt(record, path.split('.'), value)
    }
    return record
  }

  function noteAbsentColumns(records: readonly JsonObject[]): void {
    for (const column of absent) {
      if (records.some((record) => valueAt(record, column.path) !== undefined)) absent.delete(column)
    }
    const needed = columns.shown.filter(({ required }) => required)
    const missing = rows === 0 && records.length > 0 ? needed.filter((column) => absent.has(column)) : []
    if (missing.length > 0 && !columns.chosen) {
      const said = missing.map(({ name }) => name).join(', ')
      throw new CommandError('missing_column', 'failure', `${host} does not send ${said}`, {
        why: [`${dataset.name} cannot be imported without it`],
        hint: 'To export other columns: --columns <names>',
      })
    }
    const isEmpty = (value: unknown, { nullable }: Column) =>
      value === undefined || (value === null && !nullable)
    const lacks = (record: JsonObject) =>
      needed.some((column) => isEmpty(valueAt(record, column.path), column))
    lacking += records.filter(lacks).length
  }

  async function* bytes() {
    for await (const { data } of recordPages(caller, wanted.list, pages)) {
      const records: JsonObject[] = []
      for (const item of data) records.push(await rowOf(item))
      noteAbsentColumns(records)
      rows += records.length
      yield Buffer.from(encoder.rows(records.map((record) => rowOfRecord(record, wanted))))
    }
    yield Buffer.from(encoder.end())
  }

  return {
    bytes: bytes(),
    rows: () => rows,
    guarded: () => encoder.guarded?.() ?? 0,
    notes: () => {
      const unsent = rows === 0 ? [] : [...absent].map(({ name }) => name)
      const hidden = hiddenNote(encoder)
      return [
        ...(unsent.length > 0 ? [`${host} does not send ${unsent.join(', ')}`] : []),
        ...(lacking > 0 && unsent.length === 0
          ? [`${pluralise(lacking, 'row')} cannot be imported: a required column is empty`]
          : []),
        ...(unanswered > 0
          ? [
              `The answers of questions in ${pluralise(unanswered, 'lesson')} are not included: this credential cannot see them`,
            ]
          : []),
        ...(hidden === null ? [] : [hidden]),
      ]
    },
  }
}

/** Orders the fields of a record as in its schema. */
function orderFields({ schema }: Dataset, record: JsonObject): Record<string, unknown> {
  const fields = Object.keys(schema.shape).filter((field) => record[field] !== undefined)
  return Object.fromEntries(fields.map((field) => [field, record[field]]))
}

/** True for a lesson whose answers are hidden, as from a learner. */
function hidesAnswers({ assessments }: JsonObject): boolean {
  if (!Array.isArray(assessments)) return false
  return assessments
    .flatMap((assessment) => (isJsonObject(assessment) ? assessment['questions'] : []))
    .some((question) => isJsonObject(question) && !Object.hasOwn(question, 'answer'))
}

/** Returns a record in the shape of its format: texts in cells, or nested objects. */
function rowOfRecord(record: JsonObject, { format, columns: { shown } }: WantedRecords): unknown {
  if (format !== 'csv' && format !== 'table') return record
  return Object.fromEntries(
    shown.map((column) => [column.path, cellOf(column, valueAt(record, column.path))]),
  )
}

async function encoderOf(context: Context, wanted: WantedRecords): Promise<ListEncoder> {
  const { shown, chosen } = wanted.columns
  const labelled = shown.map(({ name, path }: Column) => ({ label: name, path }))
  const columns = { csv: labelled, table: labelled, chosen: chosen ? labelled : null }
  return listEncoder(context, wanted, columns)
}

/** Columns of an export of records. */
interface RecordColumns {
  /** Columns of a row, in order. */
  readonly shown: readonly Column[]
  /** True if they were chosen by name. */
  readonly chosen: boolean
  /** Fields of a row that the platform computes and no record has. */
  readonly made: readonly string[]
}

/**
 * Returns the columns that an import takes; with `all` also those that the platform sets; or the chosen ones.
 * Throws a UsageError on an unknown name.
 */
function recordColumns(
  { columns }: Pick<Dataset, 'columns'>,
  list: Pick<Call, 'holds'>,
  names: readonly string[] | null,
  all: boolean,
): RecordColumns {
  const own = columns.filter(({ secret }) => !secret)
  const isOwn = (path: string) =>
    columns.some((column) => column.path === path || path.startsWith(`${column.path}.`))
  const made = leavesOf(list.holds.answer).filter((path) => !isOwn(path))
  const paths = [...own.map(({ path }) => path), ...made]
  const others = labelColumns(made, paths).map(
    ({ path, label }): Column => ({
      name: label,
      path,
      kind: 'json',
      required: false,
      secret: false,
      initial: null,
    }),
  )
  const every = [...own, ...others]
  if (names === null)
    return all ? { shown: every, chosen: false, made } : { shown: own, chosen: false, made: [] }
  const shown = names.map((name) => {
    const path = resolvePath(name, paths)
    const column = every.find((each) => each.path === path)
    if (!column) throw new TypeError(`no column ${path}`)
    return { ...column, name }
  })
  return { shown, chosen: true, made }
}
