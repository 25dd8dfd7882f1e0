import type { AnyInput } from '../../client/call.ts'
import type { Call } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices } from '../command/flag.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { showRequest } from '../operation/dry-run.ts'
import { assertSeveralOffered, judgeList } from '../operation/judge-list.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { UsageError } from '../terminal/errors.ts'
import { allColumnsFlag, exportOptionsOf, historyFlag } from './export-flags.ts'
import { orderedPages, withOrder } from './record-pages.ts'
import { recordColumns, recordSource } from './record-source.ts'
import { expectedRows, writeExport } from './write-export.ts'

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
