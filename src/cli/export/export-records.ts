import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { ColumnType, EncodedColumn } from '../../tables/column.ts'
import { labelColumns, leavesOf, valueAt } from '../../tables/column.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { BoundFlag } from '../command/flag.ts'
import { cellOf } from '../dataset/cell.ts'
import type { Column } from '../dataset/column.ts'
import type { Dataset, DatasetName } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { createNames, type Names, shownRecords } from '../dataset/names.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { AbsentColumns, resolvePath, setAt } from '../output/columns.ts'
import { describedColumns } from '../output/formats/format.ts'
import { pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import { type Batches, encodedSource, type Source } from '../targets/write-export.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { allColumnsFlag, exportOptionsOf, historyFlag } from './export-options.ts'
import { exportList, pseudonymisedSource } from './list-export.ts'
import { isCells, listEncoder, type RowForm } from './row-encoder.ts'

/** Page size for lessons and courses, which may be large. */
const largeRecordLimit = 20

/** `order` is one in which no record moves during the export; null if the list has only that one. */
export async function exportRecords(
  context: Context,
  given: Given,
  { dataset: name, order }: { readonly dataset: DatasetName; readonly order: string | null },
  filters: readonly BoundFlag[],
): Promise<void> {
  const target = exportOptionsOf(context.settings, given, name)
  const dataset = await loadDataset(name)
  const { history, all, list: usual } = dataset.operations
  const list: Call = (given.flags[historyFlag.name] === true ? history : all) ?? usual
  if (list === history) assertHistoryFilters(list, filters, given)
  const privacy = await pseudonymisingOf(context, given)
  const hasAllColumns = given.flags[allColumnsFlag.name] === true
  if (privacy && hasAllColumns)
    throw new UsageError('--all-columns and --pseudonymise cannot be used together')
  const columns = recordColumns(dataset, list, privacy ? null : target.columns, hasAllColumns)
  await exportList(context, given, {
    ...{ operation: list, filters, target, order },
    ...(['courses', 'lessons'].includes(name) && { pageSize: largeRecordLimit }),
    encode: async (rows, caller) => {
      if (privacy) return pseudonymisedSource(context, privacy, target, list.id, rows)
      return recordSource(context, caller, rows, { ...target, dataset, list, columns })
    },
  })
}

function assertHistoryFilters(list: Operation, filters: readonly BoundFlag[], { flags }: Given): void {
  const other = Object.keys(queryOf(filters, flags)).find((name) => !Object.hasOwn(list.filters ?? {}, name))
  if (other === undefined) return
  const flag = filters.find(({ place }) => place === other)?.flag.name ?? other
  throw new UsageError(`--history and --${flag} cannot be used together`)
}

interface WantedRecords extends Omit<RowForm, 'columns'> {
  readonly dataset: Dataset
  readonly list: Call
  readonly columns: ReturnType<typeof recordColumns>
}

function recordSource(context: Context, caller: Caller, rows: Batches, wanted: WantedRecords): Source {
  const { shown, chosen } = wanted.columns
  const labelled = shown.map(({ name, path }) => ({ label: name, path }))
  const typed = () => typeRecordColumns(shown, wanted.list)
  const columns = { csv: labelled, table: labelled, chosen: chosen ? labelled : null, typed }
  const records = new FileRecords(context, caller, wanted)
  const load = () => listEncoder(context, wanted, columns)
  return encodedSource(records.read(rows), load, () => records.notes())
}

class FileRecords {
  readonly #wanted: WantedRecords
  readonly #caller: Caller
  readonly #names: Names
  readonly #host: string
  readonly #absent: AbsentColumns<Column>
  #unanswered = 0

  constructor({ io, session }: Context, caller: Caller, wanted: WantedRecords) {
    const { columns, dataset } = wanted
    this.#wanted = wanted
    this.#caller = caller
    this.#names = createNames(caller, io.signal)
    this.#host = platformName(session.target())
    // Platforms never return fields that only an import sends.
    this.#absent = new AbsentColumns(columns.shown.filter(({ path }) => !(path in (dataset.presumed ?? {}))))
  }

  notes(): readonly string[] {
    const unsent = this.#absent.all().map(({ name }) => name)
    return [
      ...(unsent.length > 0 ? [`${this.#host} does not send ${unsent.join(', ')}`] : []),
      ...(this.#unanswered > 0
        ? [
            `The answers of questions in ${pluralise(this.#unanswered, 'lesson')} are not included: this credential cannot see them`,
          ]
        : []),
    ]
  }

  async *read(rows: Batches): AsyncGenerator<readonly unknown[]> {
    let isFirst = true
    for await (const data of rows) {
      const records: JsonObject[] = []
      for (const item of shownRecords(this.#caller, this.#wanted.list, { data }))
        records.push(await this.#recordOf(item))
      this.#absent.see(records)
      if (isFirst) this.#assertNeeded()
      isFirst &&= records.length === 0
      yield records.map((record) => rowOfRecord(record, this.#wanted))
    }
  }

  async #recordOf(shown: unknown): Promise<JsonObject> {
    const { dataset, columns } = this.#wanted
    if (!isJsonObject(shown)) {
      const message = `${this.#host} sent a ${dataset.noun} that is not an object`
      throw new CommandError('invalid_row', 'failure', message)
    }
    const record = orderFields(dataset, await dataset.toRecord(shown, this.#names))
    if (hidesAnswers(record)) this.#unanswered += 1
    for (const path of columns.made) {
      const value = valueAt(shown, path)
      if (value !== undefined) setAt(record, path.split('.'), value)
    }
    return record
  }

  /** Throws a CommandError if the first records lack a required column that was not chosen. */
  #assertNeeded(): void {
    const { dataset, columns } = this.#wanted
    const missing = this.#absent.all().filter(({ required }) => required)
    if (missing.length === 0 || columns.chosen) return
    const names = missing.map(({ name }) => name).join(', ')
    throw new CommandError('missing_column', 'failure', `${this.#host} does not send ${names}`, {
      why: [`${dataset.name} cannot be imported without it`],
      hint: 'To export other columns: --columns <names>',
    })
  }
}

function orderFields({ schema }: Dataset, record: JsonObject): Record<string, unknown> {
  const fields = Object.keys(schema.shape).filter((field) => record[field] !== undefined)
  return Object.fromEntries(fields.map((field) => [field, record[field]]))
}

/** Answers are hidden from learners. */
function hidesAnswers({ assessments }: JsonObject): boolean {
  if (!Array.isArray(assessments)) return false
  return assessments
    .flatMap((assessment) => (isJsonObject(assessment) ? assessment['questions'] : []))
    .some((question) => isJsonObject(question) && !Object.hasOwn(question, 'answer'))
}

function rowOfRecord(record: JsonObject, wanted: WantedRecords): unknown {
  if (!isCells(wanted)) return record
  const { shown } = wanted.columns
  return Object.fromEntries(
    shown.map((column) => [column.path, cellOf(column, valueAt(record, column.path))]),
  )
}

const typeByKind: Readonly<Record<Column['kind'], ColumnType>> = {
  text: 'string',
  number: 'number',
  switch: 'boolean',
  time: 'timestamp',
  day: 'date',
  texts: 'string',
  json: 'string',
}

/** Returns columns with the types of the data dictionary; a column that it does not describe has the type that an import reads. */
async function typeRecordColumns(columns: readonly Column[], list: Call): Promise<EncodedColumn[]> {
  const described = await describedColumns(list.id)
  return columns.map(({ name, path, kind }) => ({
    type: typeByKind[kind],
    ...described.get(path),
    name,
    path,
  }))
}

/** `all` adds those that the platform sets. Throws a UsageError on an unknown name. */
function recordColumns(
  { columns }: Pick<Dataset, 'columns'>,
  list: Pick<Call, 'holds'>,
  names: readonly string[] | null,
  all: boolean,
) {
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
