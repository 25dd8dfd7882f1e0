import type { Page } from '../../client/call.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices } from '../command/flag.ts'
import { showRequest } from '../operation/dry-run.ts'
import { expectedRows } from '../operation/expected-rows.ts'
import { queryOf, rowHandling } from '../operation/operation-flags.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonym-table.ts'
import { UsageError } from '../terminal/errors.ts'
import { exportOptionsOf } from './export-options.ts'
import { pseudonymisedSource } from './pseudonymised-export.ts'
import { writeExport } from './write-export.ts'

/** Prints all rows of a list without the identities of people: on a terminal as a table, otherwise as CSV unless chosen. */
export async function printPseudonymisedList(
  context: Context,
  given: Given,
  how: Pseudonymising,
  operation: Operation,
  filters: readonly BoundFlag[],
): Promise<void> {
  const { io, session, settings } = context
  requireWhole(context)
  checkOwnChoices(session.target(), filters, given.flags)
  const asked = exportOptionsOf(settings, given, operation.id)
  const isShown = settings.output.origin.source === 'default' && asked.format === 'csv' && io.stdout.isTTY
  const form = isShown ? { ...asked, format: 'table' as const } : asked
  const query = queryOf(filters, given.flags)
  const caller = await session.caller()
  const input = { query: { ...query, limit: maxPageSize }, signal: io.signal }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, input))
  const read = { ...input, ...(await rowHandling(context.output, given.flags)) }
  await writeExport(
    context,
    form,
    async () => {
      const rows = rowsIn(caller.pages(operation, read))
      return pseudonymisedSource(context, how, form, { operation: operation.id, rows })
    },
    () => expectedRows(context, caller, operation, query),
  )
}

/** Throws a UsageError for a part of the rows, because the order of a list identifies people. */
function requireWhole({ settings: { limit, quiet } }: Context): void {
  const other = [limit, quiet].find(({ origin }) => origin.source === 'flag')
  if (!other) return
  throw new UsageError(`${other.origin.name} and --pseudonymise cannot be used together`, {
    why: ['All rows are printed, in the order of pseudonyms'],
  })
}

async function* rowsIn(
  pages: AsyncIterable<Pick<Page<Operation>, 'data'>>,
): AsyncGenerator<readonly unknown[]> {
  for await (const { data } of pages) yield data
}
