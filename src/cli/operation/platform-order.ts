import type { AnyInput, Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { createOrderCheck, isSortIgnored } from '../../client/foreign/order.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import { firstPage, unlessRefused } from './platform-filter.ts'

/** Watches the order in which a platform elsewhere sends a list. */
export interface PlatformOrder {
  /** The same pages. */
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P>
  /**
   * Says that the platform ignored the order. Throws a CommandError where the list was cut: the rows may then not be those
   * that were asked for.
   *
   * @param cut how many rows were shown, where more exist
   */
  tell(cut: number | null): Promise<void>
}

/** Fewer items in order than these may be so by chance. */
const minSteps = 5

/** The watch over one list, whose query has a `sort` such as `title` or `-title`. */
export async function platformOrder(
  { io: { signal }, output, session }: Pick<Context, 'io' | 'output' | 'session'>,
  caller: Caller,
  operation: Operation,
  { params, query = {} }: Pick<AnyInput, 'params' | 'query'>,
): Promise<PlatformOrder> {
  const { difficulties } = await import('../../contract/course-choices.ts')
  const check = createOrderCheck(operation, String(query['sort']), difficulties)
  let seen = false

  /** Null if that cannot be told. */
  async function isIgnored(cut: boolean): Promise<boolean | null> {
    if (!check.holds()) return true
    if (!seen || (!check.isUncertain() && !(cut && check.steps() < minSteps))) return false
    return isSortIgnored(operation, query, (asked) =>
      unlessRefused(() => firstPage(caller, operation, { params, query: asked, signal })),
    )
  }

  return {
    async *pages(pages) {
      for await (const page of pages) {
        if (!page.strict) {
          seen ||= page.data.length > 0
          for (const item of page.data) check.see(item)
        }
        yield page
      }
    },
    tell: async (cut) => {
      const host = platformName(session.target())
      const ignored = await isIgnored(cut !== null)
      if (ignored === null && check.lacking()) {
        await output.note(`Cannot check --sort: ${host} sent rows without ${check.field}`)
      }
      if (ignored !== true) return
      if (cut === null) return output.note(`${host} ignored --sort; the rows are in its own order`)
      throw new CommandError(
        'not_sorted',
        'failure',
        `${host} ignored --sort: these may not be the first ${cut}`,
        {
          hint: 'Use --all to get all rows, in the order of the platform',
        },
      )
    },
  }
}
