import type { Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { createFilterCheck, type FilterCheck, openReferences } from '../../client/filter-check.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { shownThings } from './shown-things.ts'

/** What a platform elsewhere is asked for, and in which words. */
export interface Filtering {
  readonly operation: Operation
  readonly query: Readonly<Record<string, unknown>>
  /** The flag that a parameter was given by, such as `--status`. */
  readonly flagOf: (parameter: string) => string
}

/** Keeps to what was asked for, whatever a platform makes of the filters that it was sent. */
export interface PlatformFilter {
  /**
   * The check of items that came without a word that the filters were obeyed; null where there is nothing to check.
   * Reads the ids of references that items do not show otherwise. Throws a UsageError where the platform shows none.
   */
  check(): Promise<FilterCheck | null>
  /** The same pages, with the items that were asked for. */
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P>
  /** Says which filters the platform ignored, but for those `widened` before, and which could not be checked. */
  note(widened?: readonly string[]): Promise<void>
}

/** The filter of one run. */
export function platformFilter(
  context: Context,
  caller: Caller,
  { operation, query, flagOf }: Filtering,
): PlatformFilter {
  const { output, session } = context
  let opened: Promise<FilterCheck | null> | null = null

  async function open(): Promise<FilterCheck | null> {
    const references = openReferences(operation, query)
    const ids = new Map<string, string>()
    if (references.length > 0) {
      const things = await shownThings(context, caller)
      for (const { to, reference } of references) {
        const id = await things.idBehind(to, reference)
        if (id !== null) ids.set(reference, id)
      }
    }
    return createFilterCheck(operation, query, ids)
  }

  function check(): Promise<FilterCheck | null> {
    opened ??= open()
    return opened
  }

  return {
    check,
    async *pages(pages) {
      for await (const page of pages) {
        const judged = page.strict || page.data.length === 0 ? null : await check()
        yield judged ? { ...page, data: page.data.filter(judged.admits) } : page
      }
    },
    note: async (widened = []) => {
      const judged = await opened
      if (!judged) return
      const host = platformName(session.target())
      const ignored = judged
        .ignored()
        .filter((parameter) => !widened.includes(parameter))
        .map(flagOf)
      if (ignored.length > 0) {
        await output.note(`${host} ignored ${ignored.join(', ')}; the rows were filtered by this command`)
      }
      for (const [parameter, why] of judged.unjudged()) {
        await output.note(`Cannot check ${flagOf(parameter)}: ${host} sent rows ${why}`)
      }
    },
  }
}
