import type { AnyInput, Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ProtocolError } from '../../client/errors.ts'
import { type Settings, sources } from '../../config/resolve-settings.ts'
import { defaultPageSize, maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { AbsentColumns, matchingPaths } from '../output/columns.ts'
import { cellColumns, hasChosenColumns, type Shape } from '../output/output.ts'
import { assertSheetOnly, type SheetPlace, sheetFlag, sheetPlaceOf } from '../targets/sheet-flag.ts'
import { UsageError } from '../terminal/errors.ts'
import { showRequest } from './dry-run.ts'
import { delimiterFlag, delimiterOf, rowHandling } from './operation-flags.ts'

/** Prints a list up to `--limit`, or with `--all` page by page, or writes it to a spreadsheet; says so if it is cut. */
export async function printList(
  context: Context,
  caller: Caller,
  operation: Operation,
  input: AnyInput,
  shape: Shape,
  flags: Given['flags'],
): Promise<void> {
  const { settings, output } = context
  const limit = limitOf(settings)
  const place = sheetPlaceIn(settings, flags, operation)
  const delimiter = place ? undefined : delimiterOf(flags, settings.output.value)
  const query: Readonly<Record<string, unknown>> = { ...input.query, ...pageSizeQuery(limit) }
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, { ...input, query }))
  const paged: AnyInput = { ...input, query, ...(await rowHandling(output, flags)) }
  const areChosen = hasChosenColumns(settings) && !settings.quiet.value
  const chosen = areChosen ? (settings.columns.value ?? []) : []
  const absent = new AbsentColumns(
    chosen.map((label) => ({ label, path: matchingPaths(label, shape.paths)[0] ?? label })),
  )
  const noteAbsent = async () => {
    const labels = caller.isOurs() ? [] : absent.all().map(({ label }) => label)
    if (labels.length > 0) await output.note(`The platform does not send ${labels.join(', ')}`)
  }
  let cut: number | null = null
  const listed = caller.pages(operation, paged)
  const limited = (received: AsyncIterable<Page<Operation>>) =>
    limitItems(limit, received, absent, (count) => {
      cut = count
    })
  if (place) {
    const [{ sheetRows }, { encodedSource, writeExport }] = await Promise.all([
      import('../targets/sheet-target.ts'),
      import('../targets/write-export.ts'),
    ])
    const encoderFor = (rows: readonly unknown[]) => sheetRows(cellColumns(settings, rows, shape))
    const target = { format: 'sheet', gzip: false, file: undefined, force: false, sheet: place } as const
    // Unlike a printed list, a tab never has a part of the rows.
    await writeExport(context, target, async () => encodedSource(limited(listed), encoderFor))
    await noteAbsent()
    if (cut !== null) await output.note(`Exported the first ${cut}; use --all for the rest`)
    return
  }
  await printUntilError(listed, async (received) => {
    await output.list(limited(received), { ...shape, delimiter })
    await noteAbsent()
  })
  if (cut !== null) await output.note(`Showing the first ${cut}; use --all for the rest`)
}

/** Default name: the resource. Null without the flag. */
function sheetPlaceIn(settings: Settings, flags: Given['flags'], { id }: Operation): SheetPlace | null {
  const given = flags[sheetFlag.name]
  if (given === undefined) return null
  assertSheetOnly(settings, flags, [delimiterFlag])
  return sheetPlaceOf(String(given), id.replace(/\.list$/, ''))
}

/**
 * Returns the number of items to print: all, or the limit, whichever was set more specifically. Throws a UsageError
 * on both.
 */
function limitOf({ all, limit }: Settings): number {
  if (!all.value) return limit.value
  const rank = sources.indexOf(all.origin.source) - sources.indexOf(limit.origin.source)
  if (rank === 0 && all.origin.source !== 'default') {
    throw new UsageError(`${all.origin.name} and ${limit.origin.name} cannot be used together`)
  }
  return rank < 0 ? Number.POSITIVE_INFINITY : limit.value
}

/** Omits the default page size, since not every platform knows the parameter. */
function pageSizeQuery(limit: number): { limit?: number } {
  return limit === defaultPageSize ? {} : { limit: Math.min(limit, maxPageSize) }
}

/** Calls `onCut` with the number of items if more exist. */
async function* limitItems(
  limit: number,
  pages: AsyncIterable<Pick<Page<Operation>, 'data' | 'more'>>,
  absent: Pick<AbsentColumns<{ readonly path: string }>, 'see'>,
  onCut: (shown: number) => void,
): AsyncGenerator<readonly unknown[]> {
  let shown = 0
  for await (const { data, more } of pages) {
    absent.see(data)
    const rows = data.slice(0, limit - shown)
    shown += rows.length
    yield rows
    if (rows.length < data.length || (shown === limit && more)) onCut(shown)
    if (shown === limit) return
  }
}

/**
 * Prints the pages of a list as a complete document, even if the platform fails to send all of them: that error is
 * thrown after the received pages are printed.
 */
export async function printUntilError<Page>(
  pages: AsyncIterable<Page>,
  print: (received: AsyncIterable<Page>) => Promise<void>,
): Promise<void> {
  let incomplete: ProtocolError | null = null
  async function* received(): AsyncGenerator<Page> {
    try {
      yield* pages
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'incomplete') throw error
      incomplete = error
    }
  }
  await print(received())
  if (incomplete !== null) throw incomplete
}
