import type { AnyInput } from '../../client/call-input.ts'
import type { Operation } from '../../contract/operation.ts'
import { maximumPageSize } from '../../contract/page-size.ts'
import { checkChoices } from '../command/choices.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type BoundFlag, bound, type FieldFlag } from '../command/flag.ts'
import { withTimeZone } from '../command/time-flag.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import { exportAsked, formatFlag, targetFlags } from '../export/export-flags.ts'
import { showRequest } from '../operation/dry-run.ts'
import { queryOf } from '../operation/query.ts'

/** What an export of records is. */
export interface ExportSpec {
  readonly dataset: DatasetName
  /** Several of them, in help: `enrolments`. */
  readonly noun: string
  /** The flags of the list's filters and of its order. */
  readonly query: Readonly<Record<string, FieldFlag>>
  /** The order in which no row moves while the list is read; null where the list has that one alone. */
  readonly order: string | null
  readonly examples: readonly string[]
}

/** Lessons and courses may be large: so many of them are read at once. */
const largeRecords = 20

const allColumnsFlag = {
  name: 'all-columns',
  kind: 'switch',
  summary: 'Include what the platform sets, such as id, version and times; an import ignores it',
} as const

/** `learnctl <noun> export`: all records, as an import reads them. */
export function exportCommand(spec: ExportSpec): Command {
  const query = bound(spec.query)
  return {
    name: 'export',
    summary: `Export ${spec.noun} as a file that can be imported`,
    description:
      'The format is set by --output, else by the extension of --file (.csv, .json, .jsonl, .ndjson or .yaml, with .gz added to\ncompress); the default is CSV. The columns are those of the import, with your own ids in place of those of the platform,\nso that the file can be imported elsewhere. Passwords are never exported. A record without an externalId has its id there.',
    refuses: {
      quiet: `Print ids with: learnctl ${spec.dataset} list --all -q`,
      limit: 'An export contains all rows; use the filters to narrow it',
    },
    flags: [formatFlag, ...withTimeZone(query.map(({ flag }) => flag)), allColumnsFlag, ...targetFlags],
    examples: spec.examples,
    run: async (context, given) => {
      try {
        await runExport(context, given, spec, query)
      } catch (error) {
        const { withSources } = await import('../operation/refused-call.ts')
        throw withSources(error, { fields: [], query, positions: [] }, given)
      }
    },
  }
}

async function runExport(
  context: Context,
  given: Given,
  spec: ExportSpec,
  filters: readonly BoundFlag[],
): Promise<void> {
  const { io, session, settings } = context
  const asked = exportAsked(settings, given)
  const [
    caller,
    { loadDataset },
    { recordColumns },
    { recordSource },
    { inOrder, orderedPages },
    { expectedRows, writeExport },
  ] = await Promise.all([
    session.caller(),
    import('../dataset/load-dataset.ts'),
    import('../export/record-columns.ts'),
    import('../export/record-source.ts'),
    import('../export/record-pages.ts'),
    import('../export/write-export.ts'),
  ])
  const dataset = await loadDataset(spec.dataset)
  const list: Operation = dataset.operations.list
  const remote = session.target().kind === 'remote'
  if (!remote)
    checkChoices(
      filters.map(({ flag }) => flag),
      given.flags,
    )
  const query = queryOf(filters, given.flags)
  const columns = recordColumns(dataset, asked.columns, given.flags[allColumnsFlag.name] === true)
  const limit = ['courses', 'lessons'].includes(spec.dataset) ? largeRecords : maximumPageSize
  const input: AnyInput = {
    query: { ...query, limit },
    ...(remote && { handling: 'strict' as const }),
    signal: io.signal,
  }
  if (settings.dryRun.value) return showRequest(context, caller.request(list, inOrder(input, spec.order)))

  const flagOf = (parameter: string) =>
    `--${filters.find(({ place }) => place === parameter)?.flag.name ?? parameter}`
  const filtered = remote && Object.keys(list.filters ?? {}).some((name) => query[name] !== undefined)
  const filter = filtered
    ? (await import('../operation/platform-filter.ts')).platformFilter(context, caller, {
        operation: list,
        query,
        flagOf,
      })
    : null
  const sort = query['sort']
  const order =
    remote && typeof sort === 'string'
      ? await (await import('../operation/platform-order.ts')).platformOrder(context, list, sort)
      : null
  await writeExport(
    context,
    asked,
    () => {
      const received = orderedPages(caller, list, input, spec.order)
      const ordered = order ? order.pages(received) : received
      const pages = filter ? filter.pages(ordered) : ordered
      return recordSource(context, caller, pages, { ...asked, dataset, columns, remote })
    },
    () => expectedRows(context, caller, list, query),
  )
  await filter?.note()
  await order?.tell(null)
}
