import type { Page } from '../../client/call.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkChoices } from '../command/flag.ts'
import { cellOf } from '../dataset/cell.ts'
import { showRequest } from '../operation/dry-run.ts'
import { expectedRows } from '../operation/expected-rows.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { type Column, labelColumns, resolvePath, valueAt } from '../output/columns.ts'
import { endBytes, hiddenNote, rowBytes } from '../output/formats/format.ts'
import { typeColumns } from '../output/formats/tables.ts'
import { exportOptionsOf } from './export-options.ts'
import { withOrder } from './export-records.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'
import { type Source, writeExport } from './write-export.ts'

const { list } = calls.audit
const everyColumn: readonly string[] = list.holds.answer
const tableColumns = ['at', 'userEmail', 'action', 'subjectName', 'address', 'credential']

export async function exportAudit(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
): Promise<void> {
  const { io, session, settings } = context
  const asked = exportOptionsOf(settings, given, 'audit')
  const caller = await session.caller()
  checkChoices(
    filters.map(({ flag }) => flag),
    given.flags,
  )
  const query = queryOf(filters, given.flags)
  const input = withOrder({ query: { ...query, limit: maxPageSize }, signal: io.signal }, 'at')
  if (settings.dryRun.value) return showRequest(context, caller.request(list as Operation, input))
  await writeExport(
    context,
    asked,
    () => sourceOf(context, caller.pages(list as Operation, input), asked),
    () => expectedRows(context, caller, list, query),
  )
}

async function sourceOf(
  context: Context,
  pages: AsyncIterable<Pick<Page<Operation>, 'data'>>,
  { format, columns: names, raw, bom, delimiter }: RowForm,
): Promise<Source> {
  const chosen = names?.map((label) => ({ label, path: resolvePath(label, everyColumn) })) ?? null
  const all = chosen ?? labelColumns(everyColumn, everyColumn)
  const few = chosen ?? labelColumns(tableColumns, everyColumn)
  const encoder = await listEncoder(
    context,
    { format, raw, bom, delimiter },
    { csv: all, table: few, chosen, typed: () => typeColumns(all, list.id) },
  )
  const isCells = format === 'csv' || format === 'table' || format === 'sheet'
  let rows = 0

  async function* bytes() {
    for await (const { data } of pages) {
      rows += data.length
      yield rowBytes(encoder, isCells ? data.map((row) => cellsOf(row, all)) : data)
    }
    yield endBytes(encoder)
  }

  return {
    bytes: bytes(),
    rows: () => rows,
    guarded: () => encoder.guarded?.() ?? 0,
    notes: () => {
      const hidden = hiddenNote(encoder)
      return hidden === null ? [] : [hidden]
    },
  }
}

/** Changes are JSON. */
function cellsOf(row: unknown, columns: readonly Column[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ path }) => [path, cellOf({ kind: 'json' }, valueAt(row, path))]))
}
