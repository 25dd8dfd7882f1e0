import { calls } from '../../contract/calls.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { BoundFlag } from '../command/flag.ts'
import { cellOf } from '../dataset/cell.ts'
import { type Column, labelColumns, resolvePath, valueAt } from '../output/columns.ts'
import { typeColumns } from '../output/formats/format.ts'
import { type Batches, encodedSource, type Source } from '../targets/write-export.ts'
import { exportOptionsOf } from './export-options.ts'
import { exportList } from './list-export.ts'
import { isCells, listEncoder, type RowForm } from './row-encoder.ts'

const { list } = calls.audit
const everyColumn: readonly string[] = list.holds.answer
const tableColumns = ['at', 'userEmail', 'action', 'subjectName', 'address', 'credential']

export async function exportAudit(
  context: Context,
  given: Given,
  filters: readonly BoundFlag[],
): Promise<void> {
  const target = exportOptionsOf(context.settings, given, 'audit')
  await exportList(context, given, {
    ...{ operation: list, filters, target, order: 'at' },
    encode: (rows) => sourceOf(context, rows, target),
  })
}

async function sourceOf(context: Context, rows: Batches, form: RowForm): Promise<Source> {
  const chosen = form.columns?.map((label) => ({ label, path: resolvePath(label, everyColumn) })) ?? null
  const all = chosen ?? labelColumns(everyColumn, everyColumn)
  const few = chosen ?? labelColumns(tableColumns, everyColumn)
  const typed = () => typeColumns(all, list.id)
  const encoder = await listEncoder(context, form, { csv: all, table: few, chosen, typed })
  const shown = isCells(form) ? cellsIn(rows, all) : rows
  return encodedSource(shown, () => encoder)
}

/** Changes are JSON. */
async function* cellsIn(rows: Batches, columns: readonly Column[]): Batches {
  for await (const batch of rows) {
    yield batch.map((row) =>
      Object.fromEntries(columns.map(({ path }) => [path, cellOf({ kind: 'json' }, valueAt(row, path))])),
    )
  }
}
