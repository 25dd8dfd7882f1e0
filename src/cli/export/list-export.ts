import type { AnyInput, Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, ProtocolError } from '../../client/errors.ts'
import { isJsonObject, jsonText } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize, personalSections, singleSections } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import { labelColumns, valueAt } from '../../tables/column.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices } from '../command/flag.ts'
import { cellOf } from '../dataset/cell.ts'
import { showRequest } from '../operation/dry-run.ts'
import { queryOf, rowHandling } from '../operation/operation-flags.ts'
import { type Column, resolvePath } from '../output/columns.ts'
import { typeColumns } from '../output/formats/format.ts'
import { pseudonymisingOf } from '../pseudonyms/pseudonym-flags.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonyms.ts'
import {
  type Batches,
  type ExportTarget,
  encodedSource,
  expectedRows,
  type Source,
  writeExport,
} from '../targets/write-export.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { exportOptionsOf, fileTarget } from './export-options.ts'
import { isCells, jsonEncoder, listEncoder, type RowForm } from './row-encoder.ts'

interface ListExport {
  readonly operation: Operation
  readonly filters: readonly BoundFlag[]
  readonly target: ExportTarget
  /** Order in which no row moves during the export; null if the list has only that one. */
  readonly order: string | null
  readonly pageSize?: number
  /** False if the list does not count its rows. */
  readonly isCounted?: boolean
  encode(rows: Batches, caller: Caller): Source | Promise<Source>
}

export async function exportList(
  context: Context,
  given: Given,
  { operation, filters, target, order, pageSize = maxPageSize, isCounted = true, encode }: ListExport,
): Promise<void> {
  const { io, session, settings, output } = context
  checkOwnChoices(session.target(), filters, given.flags)
  const caller = await session.caller()
  const query = queryOf(filters, given.flags)
  const input = { query: { ...query, limit: pageSize }, signal: io.signal }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, withOrder(input, order)))
  const read = { ...input, ...(await rowHandling(output, given.flags)) }
  await writeExport(
    context,
    target,
    async () => encode(orderedRows(caller, operation, read, order), caller),
    () => (isCounted ? expectedRows(context, caller, operation, query) : Promise.resolve(null)),
  )
}

/** Sets the order of a list unless the input has one; null keeps the list's own. */
function withOrder(input: AnyInput, order: string | null): AnyInput {
  return order === null ? input : { ...input, query: { sort: order, ...input.query } }
}

/**
 * Yields all rows of a list in a stable order. If another platform refuses that order, which the user did not choose,
 * uses its default order.
 */
async function* orderedRows(
  caller: Caller,
  list: Operation,
  input: AnyInput,
  order: string | null,
): AsyncGenerator<readonly unknown[]> {
  const unasked = order !== null && input.query?.['sort'] === undefined
  let begun = false
  try {
    for await (const { data } of caller.pages(list, withOrder(input, order))) {
      begun = true
      yield data
    }
  } catch (error) {
    const isRefusal = error instanceof ApiError && !error.coded && [400, 422].includes(error.status)
    const isUnsorted = error instanceof ProtocolError && error.code === 'not_sorted'
    if (!(isRefusal || isUnsorted) || !unasked || begun) throw error
    for await (const { data } of caller.pages(list, input)) yield data
  }
}

export async function printPseudonymised(
  context: Context,
  given: Given,
  how: Pseudonymising,
  operation: Operation,
  filters: readonly BoundFlag[],
): Promise<void> {
  const { io, settings } = context
  const part = [settings.limit, settings.quiet].find(({ origin }) => origin.source === 'flag')
  if (part) {
    throw new UsageError(`${part.origin.name} and --pseudonymise cannot be used together`, {
      why: ['All rows are printed, in the order of pseudonyms'],
    })
  }
  const asked = exportOptionsOf(settings, given, operation.id)
  const isShown = settings.output.origin.source === 'default' && asked.format === 'csv' && io.stdout.isTTY
  const target = isShown ? { ...asked, format: 'table' as const } : asked
  await exportList(context, given, {
    ...{ operation, filters, target, order: null },
    encode: (rows) => pseudonymisedSource(context, how, target, operation.id, rows),
  })
}

export async function pseudonymisedSource(
  context: Context,
  how: Pseudonymising,
  form: RowForm,
  operation: string,
  rows: Batches,
): Promise<Source> {
  const { listPrivacy } = await import('./privacy-step.ts')
  const privacy = listPrivacy(how, operation, form.columns)
  const labelled = privacy.columns.map(({ name, path }) => ({ label: name, path }))
  const columns = { csv: labelled, table: labelled, chosen: labelled, typed: async () => privacy.columns }
  const load = () => listEncoder(context, form, columns)
  return encodedSource(privacy.rows(rows), load, () => privacy.notes())
}

const { statements } = calls.analytics

export async function exportStatements(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
): Promise<void> {
  const place = fileTarget(given)
  const target = { ...place, format: formatOf(context, place.file) }
  const privacy = await pseudonymisingOf(context, given)
  const named = given.flags['actor']
  if (privacy && named !== undefined && named !== 'id')
    throw new UsageError(`--actor ${String(named)} and --pseudonymise cannot be used together`)
  await exportList(context, given, {
    ...{ operation: statements, filters, target, order: null, isCounted: false },
    encode: async (rows) => {
      const step = privacy && (await import('./privacy-step.ts')).statementPrivacy(privacy)
      const load = () => jsonEncoder(target.format)
      return encodedSource(step?.rows(rows) ?? rows, load, () => step?.notes() ?? [])
    },
  })
}

/** By `--output`, else the name of the file, else JSON lines. */
function formatOf({ settings }: Context, file: string | undefined): 'json' | 'jsonl' {
  const { value, origin } = settings.output
  if (origin.source === 'flag') {
    if (value === 'json' || value === 'jsonl') return value
    throw new UsageError(`${origin.name} ${value} is not supported: statements are JSON`, {
      hint: 'Use -o jsonl for a statement per line, or -o json for one array',
    })
  }
  const ending = /\.(parquet|xlsx)(\.gz)?$/i.exec(file ?? '')
  if (ending) {
    throw new UsageError(`Cannot write ${file}: statements are JSON`, {
      hint: 'Use a name that ends in .jsonl or .json, each also with .gz',
    })
  }
  return /\.json(\.gz)?$/i.test(file ?? '') ? 'json' : 'jsonl'
}

const { list } = calls.audit
const everyColumn: readonly string[] = list.holds.answer
const tableColumns = ['at', 'userEmail', 'action', 'subjectName', 'address', 'credential']

export async function exportAudit(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
): Promise<void> {
  const target = exportOptionsOf(context.settings, given, 'audit')
  const chosen = target.columns?.map((label) => ({ label, path: resolvePath(label, everyColumn) })) ?? null
  const all = chosen ?? labelColumns(everyColumn, everyColumn)
  const few = chosen ?? labelColumns(tableColumns, everyColumn)
  const columns = { csv: all, table: few, chosen, typed: () => typeColumns(all, list.id) }
  await exportList(context, given, {
    ...{ operation: list, filters, target, order: 'at' },
    encode: (rows) => {
      const shown = isCells(target) ? cellsIn(rows, all) : rows
      return encodedSource(shown, () => listEncoder(context, target, columns))
    },
  })
}

async function* cellsIn(rows: Batches, columns: readonly Column[]): Batches {
  for await (const batch of rows) {
    yield batch.map((row) =>
      Object.fromEntries(columns.map(({ path }) => [path, cellOf({ kind: 'json' }, valueAt(row, path))])),
    )
  }
}

const operation: Operation = calls.users.data

export async function exportPersonalData(context: Context, given: Given): Promise<void> {
  const { io, session, settings } = context
  const place = fileTarget(given)
  requireJson(context, place.file)
  const caller = await session.caller()
  const params = { userId: given.arguments['user'] ?? '' }
  const input = { params, query: { limit: maxPageSize }, signal: io.signal }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, input))
  await writeExport(context, { ...place, format: 'json' }, async () =>
    personalSource(caller.pages(operation, input), io.now()),
  )
}

function requireJson({ settings }: Context, file: string | undefined): void {
  const { value, origin } = settings.output
  const asked = origin.source === 'flag' && value !== 'json' ? `${origin.name} ${value}` : undefined
  const named = file !== undefined && !/\.json(\.gz)?$/i.test(file) ? `--file ${file}` : undefined
  const other = asked ?? named
  if (other === undefined) return
  throw new UsageError(`${other} is not supported: the data about a person is one JSON document`, {
    hint: 'Use a name that ends in .json, or .json.gz to compress it',
  })
}

function personalSource(pages: AsyncIterable<Pick<Page<Operation>, 'data'>>, now: number): Source {
  let rows = 0

  async function* bytes() {
    const sections = new Map(Object.keys(personalSections).map((name): [string, string[]] => [name, []]))
    for await (const { data } of pages) {
      for (const item of data) {
        const { section, record } = isJsonObject(item) ? item : {}
        const records = sections.get(String(section))
        if (!records || !isJsonObject(record)) {
          const message = 'The platform returned data in an unknown form'
          const hint = 'Use the version of learnctl that the academy is served with'
          throw new CommandError('answer_unusable', 'failure', message, { hint })
        }
        records.push(jsonText(record))
        rows += 1
      }
    }
    yield Buffer.from(`{\n"exportedAt": ${JSON.stringify(new Date(now).toISOString())}`)
    for (const [name, records] of sections) {
      const isSingle = singleSections.some((single) => single === name)
      const list = records.length === 0 ? '[]' : `[\n  ${records.join(',\n  ')}\n]`
      yield Buffer.from(`,\n"${name}": ${isSingle ? (records[0] ?? 'null') : list}`)
    }
    yield Buffer.from('\n}\n')
  }

  return { bytes: bytes(), rows: () => rows, guarded: () => 0, notes: () => [] }
}
