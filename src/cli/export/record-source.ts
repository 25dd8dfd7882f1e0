import type { Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { mayDiffer, platformName } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { cellOf } from '../dataset/cell.ts'
import type { Column } from '../dataset/column.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { createNames } from '../dataset/names.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { labelColumns, leavesOf, resolvePath, setAt, valueAt } from '../output/columns.ts'
import { hiddenNote, type ListEncoder } from '../output/formats/format.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'
import type { Source } from './write-export.ts'

/** The records to export, and their form. */
export interface WantedRecords extends Omit<RowForm, 'columns'> {
  readonly dataset: Dataset
  /** The operation that lists them. */
  readonly list: Call
  readonly columns: RecordColumns
}

/** Yields the records of a list in the form that files have. */
export async function recordSource(
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
    const record = inOrderOf(dataset, await dataset.toRecord(shown, names))
    if (withoutAnswers(record)) unanswered += 1
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

  function judge(records: readonly JsonObject[]): void {
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
      judge(records)
      rows += records.length
      yield Buffer.from(encoder.rows(records.map((record) => shownAs(record, wanted))))
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
function inOrderOf({ schema }: Dataset, record: JsonObject): Record<string, unknown> {
  const fields = Object.keys(schema.shape).filter((field) => record[field] !== undefined)
  return Object.fromEntries(fields.map((field) => [field, record[field]]))
}

/** True for a lesson whose answers are hidden, as from a learner. */
function withoutAnswers({ assessments }: JsonObject): boolean {
  if (!Array.isArray(assessments)) return false
  return assessments
    .flatMap((assessment) => (isJsonObject(assessment) ? assessment['questions'] : []))
    .some((question) => isJsonObject(question) && !Object.hasOwn(question, 'answer'))
}

/** Returns a record in the shape of its format: texts in cells, or nested objects. */
function shownAs(record: JsonObject, { format, columns: { shown } }: WantedRecords): unknown {
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
export function recordColumns(
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
