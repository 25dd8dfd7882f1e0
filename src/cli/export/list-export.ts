import type { AnyInput } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, ProtocolError } from '../../client/errors.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, checkOwnChoices } from '../command/flag.ts'
import { showRequest } from '../operation/dry-run.ts'
import { expectedRows } from '../operation/expected-rows.ts'
import { queryOf, rowHandling } from '../operation/operation-flags.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonym-table.ts'
import {
  type Batches,
  type ExportTarget,
  encodedSource,
  type Source,
  writeExport,
} from '../targets/write-export.ts'
import { UsageError } from '../terminal/errors.ts'
import { exportOptionsOf } from './export-options.ts'
import { listEncoder, type RowForm } from './row-encoder.ts'

/** An export of all rows of a list. */
interface ListExport {
  readonly operation: Operation
  /** Flags of the list's parameters. */
  readonly filters: readonly BoundFlag[]
  readonly target: ExportTarget
  /** A stable order, in which no row moves during the export; null if the list has only that one. */
  readonly order: string | null
  readonly pageSize?: number
  /** False if the list does not count its rows. */
  readonly isCounted?: boolean
  encode(rows: Batches, caller: Caller): Promise<Source>
}

/** Reads all rows of a list by the flags, encodes them, and writes them to their target. */
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
    () => encode(orderedRows(caller, operation, read, order), caller),
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
    const isRefusal =
      error instanceof ApiError ? !error.coded && [400, 422].includes(error.status) : isUnsorted(error)
    if (!isRefusal || !unasked || begun) throw error
    for await (const { data } of caller.pages(list, input)) yield data
  }
}

function isUnsorted(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === 'not_sorted'
}

/** Prints all rows of a list without the identities of people: on a terminal as a table, otherwise as CSV unless chosen. */
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

/** Encodes the rows of a list without the identities of people, as the columns that are left, or the chosen ones. */
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
  const typed = async () => privacy.columns
  const encoder = await listEncoder(context, form, {
    csv: labelled,
    table: labelled,
    chosen: labelled,
    typed,
  })
  return encodedSource(
    privacy.rows(rows),
    () => encoder,
    () => privacy.notes(),
  )
}
