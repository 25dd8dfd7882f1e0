import type { AnyInput, Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { type Settings, sources } from '../../config/resolve-settings.ts'
import type { Operation } from '../../contract/operation.ts'
import { defaultPageSize, maximumPageSize } from '../../contract/page-size.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { hasChosenColumns } from '../output/chosen-output.ts'
import type { Shape } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'
import { showRequest } from './dry-run.ts'
import { printReceived } from './received.ts'

/** Prints a list up to `--limit`, or all of it, page by page; says so when it is cut. */
export async function printList(
  context: Context,
  caller: Caller,
  operation: Operation,
  input: AnyInput,
  shape: Shape,
  flagOf: (parameter: string) => string,
  flags: Given['flags'],
): Promise<void> {
  const { settings, output, session } = context
  const limit = limitOf(settings)
  const query = { ...input.query, ...pageSize(limit) }
  const remote = session.target().kind === 'remote'
  const filtering = remote && filters(operation, query)
  const { sort } = input.query ?? {}
  const sorting = remote && typeof sort === 'string'
  const whole = remote && limit === Number.POSITIVE_INFINITY
  const paged: AnyInput = { ...input, query, ...((filtering || sorting || whole) && { handling: 'strict' }) }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, paged))
  if (filtering) {
    const { assertSeveralTaken } = await import('./several-references.ts')
    await assertSeveralTaken(context, caller, operation, query, flagOf)
  }
  const { filtersIgnored, platformFilter } = filtering
    ? await import('./platform-filter.ts')
    : { filtersIgnored: null, platformFilter: null }
  const { params } = input
  const filter =
    platformFilter && !(await filtersIgnored(context, flags))
      ? platformFilter(context, caller, { operation, params, query, flagOf })
      : null
  const missing =
    remote && hasChosenColumns(settings) && !settings.quiet.value
      ? (await import('./missing-columns.ts')).missingColumns(settings.columns.value, shape.paths)
      : null
  const order = sorting
    ? await (await import('./platform-order.ts')).platformOrder(context, caller, operation, {
        params: input.params,
        query,
      })
    : null
  const seen = remote ? (await import('./note-seen.ts')).noteSeen(context, operation) : null
  let cut: number | null = null
  const listed = whole
    ? (await import('./largest-pages.ts')).largestPages(caller, operation, paged, context.io.signal)
    : caller.pages(operation, paged)
  await printReceived(listed, async (received) => {
    const ordered = order ? order.pages(received) : received
    const pages = upTo(limit, filter ? filter.pages(ordered) : ordered, (shown) => {
      cut = shown
    })
    const watched = missing ? missing.watch(pages) : pages
    await output.list(seen ? seen.watch(watched) : watched, shape)
    seen?.keep()
    await filter?.note()
    const absent = missing?.names() ?? []
    if (absent.length > 0) await output.note(`The platform does not send ${absent.join(', ')}`)
    filter?.assertJudged()
    await order?.tell(cut)
  })
  if (cut !== null) await output.note(`Showing the first ${cut}; use --all for the rest`)
}

/** True where the query filters, so that what a platform sends may be more than was asked for. */
function filters({ filters = {} }: Operation, query: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(filters).some((parameter) => query[parameter] !== undefined)
}

/** How many items are wanted: all, or the limit, whichever was said more specifically. Throws a UsageError on both. */
function limitOf({ all, limit }: Settings): number {
  if (!all.value) return limit.value
  const rank = sources.indexOf(all.origin.source) - sources.indexOf(limit.origin.source)
  if (rank === 0 && all.origin.source !== 'default') {
    throw new UsageError(`${all.origin.name} and ${limit.origin.name} cannot be used together`)
  }
  return rank < 0 ? Number.POSITIVE_INFINITY : limit.value
}

/** The default size goes without saying: not every platform knows the parameter. */
function pageSize(limit: number): { limit?: number } {
  return limit === defaultPageSize ? {} : { limit: Math.min(limit, maximumPageSize) }
}

/** The items of some pages up to a limit; `onCut` is told how many there were when more exist. */
async function* upTo(
  limit: number,
  pages: AsyncIterable<Pick<Page<Operation>, 'data' | 'more'>>,
  onCut: (shown: number) => void,
): AsyncGenerator<readonly unknown[]> {
  let shown = 0
  for await (const { data, more } of pages) {
    const rows = data.slice(0, limit - shown)
    shown += rows.length
    yield rows
    if (rows.length < data.length || (shown === limit && more)) onCut(shown)
    if (shown === limit) return
  }
}
