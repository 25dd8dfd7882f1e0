import type { Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { platformName } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { cellOf } from '../dataset/cell.ts'
import type { Column } from '../dataset/column.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { createNames } from '../dataset/names.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { setAt, valueAt } from '../output/columns.ts'
import { hiddenNote, type ListEncoder } from '../output/formats/format.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError } from '../terminal/errors.ts'
import { csvCounter } from './csv-counter.ts'
import type { RecordColumns } from './record-columns.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'
import type { Source } from './write-export.ts'

/** Records that are wanted, and in which form. */
export interface WantedRecords extends Omit<RowForm, 'columns'> {
  readonly dataset: Dataset
  /** The list that they are on. */
  readonly list: Call
  readonly columns: RecordColumns
  /** True for a platform elsewhere, which may have fewer fields, and under other names. */
  readonly remote: boolean
}

/** The records on the pages of a list, one after the other, as files have them. */
export async function recordSource(
  context: Context,
  caller: Caller,
  pages: AsyncIterable<Pick<Page<Operation>, 'data' | 'strict'>>,
  wanted: WantedRecords,
): Promise<Source> {
  const { dataset, columns, format, raw } = wanted
  const names = createNames(caller, context.io.signal)
  const counter = csvCounter()
  const encoder = await encoderOf(context, wanted)
  const host = platformName(context.session.target())
  // No platform shows a field that only an import sends.
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
      // Ids of other platforms may be numbers, where an import takes text.
      const value = wanted.remote && kind === 'text' ? valueAt(record, path) : undefined
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
      yield* piece(encoder.rows(records.map((record) => shownAs(record, wanted))))
    }
    yield* piece(encoder.end())
    counter.end()
  }

  function* piece(text: string) {
    const bytes = Buffer.from(text)
    if (format === 'csv') counter.count(bytes)
    yield bytes
  }

  return {
    bytes: bytes(),
    rows: () => rows,
    guarded: format === 'csv' && !raw ? counter.guarded : () => 0,
    notes: () => {
      const unsent = rows === 0 ? [] : [...absent].map(({ name }) => name)
      const hidden = hiddenNote(encoder)
      return [
        ...(unsent.length > 0 ? [`${host} does not send ${unsent.join(', ')}`] : []),
        ...(lacking > 0 && unsent.length === 0
          ? [`${counted(lacking, 'row')} cannot be imported: a required column is empty`]
          : []),
        ...(unanswered > 0
          ? [
              `The answers of questions in ${counted(unanswered, 'lesson')} are not included: this credential cannot see them`,
            ]
          : []),
        ...(hidden === null ? [] : [hidden]),
      ]
    },
  }
}

/** The same record with its fields in the order of its schema. */
function inOrderOf({ schema }: Dataset, record: JsonObject): Record<string, unknown> {
  const fields = Object.keys(schema.shape).filter((field) => record[field] !== undefined)
  return Object.fromEntries(fields.map((field) => [field, record[field]]))
}

/** True for a lesson with questions whose answers were not shown, as to a learner. */
function withoutAnswers({ assessments }: JsonObject): boolean {
  if (!Array.isArray(assessments)) return false
  return assessments
    .flatMap((assessment) => (isJsonObject(assessment) ? assessment['questions'] : []))
    .some((question) => isJsonObject(question) && !Object.hasOwn(question, 'answer'))
}

/** A record as its format has it: with a text in each cell, or with its objects. */
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
