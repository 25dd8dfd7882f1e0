import type { Page } from '../../client/call-input.ts'
import { createOrderCheck } from '../../client/order-check.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'

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

/** The watch over one list that was asked for as `title` or `-title`. */
export async function platformOrder(
  { output, session }: Pick<Context, 'output' | 'session'>,
  operation: Operation,
  sort: string,
): Promise<PlatformOrder> {
  const { difficulties } = await import('../../contract/course-choices.ts')
  const check = createOrderCheck(operation, sort, difficulties)
  return {
    async *pages(pages) {
      for await (const page of pages) {
        if (!page.strict) for (const item of page.data) check.see(item)
        yield page
      }
    },
    tell: async (cut) => {
      const host = platformName(session.target())
      if (check.lacking()) {
        await output.note(`Cannot check --sort: ${host} sent rows without ${check.field}`)
      }
      if (check.holds()) return
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
