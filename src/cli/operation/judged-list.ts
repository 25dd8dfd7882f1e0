import type { Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import type { Filtering } from '../../client/foreign/filter.ts'
import type { OrderWatch } from '../../client/foreign/order.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { matchingPaths, valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'
import type { PlatformFilter } from './platform-filter.ts'

/** A requested list, with the flags and columns of the command line. */
export interface AskedList extends Filtering {
  /** Returns the flag that a parameter was given by, such as `--status`. */
  readonly flagOf: (parameter: string) => string
  readonly flags: Given['flags']
  /** Chosen columns, as paths by name; undefined for the default ones. */
  readonly columns?: ReadonlyMap<string, string>
}

/**
 * Applies the requested filters to a list and reports what the platform ignored. Pages of a platform that confirms
 * strict mode are passed on, without loading this module's code.
 */
export interface JudgedList {
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P>
  /** Notes the filters that were ignored, and the columns that no row had. */
  note(): Promise<void>
  /** Throws a CommandError if rows were left out that could not be judged. */
  assertJudged(): void
  /**
   * Notes that the platform ignored the order. Throws a CommandError if the list was cut, because the rows shown may
   * be the wrong ones.
   *
   * @param cut number of rows shown if more exist
   */
  noteOrder(cut: number | null): Promise<void>
}

/** Creates the filter of one list. */
export function judgedList(context: Context, caller: Caller, asked: AskedList): JudgedList {
  const { io, output, session } = context
  const { operation, params, query, flags, flagOf } = asked
  const { filters = {} } = operation
  const isFiltered = Object.keys(filters).some((parameter) => query[parameter] !== undefined)
  const absent = new Map(asked.columns)
  let filter: PlatformFilter | null = null
  let order: OrderWatch | null = null
  let rows = 0

  async function open(): Promise<void> {
    if (isFiltered) {
      const { filtersIgnored, platformFilter } = await import('./platform-filter.ts')
      if (!(await filtersIgnored(context, flags))) filter = platformFilter(context, caller, asked, flagOf)
    }
    if (typeof query['sort'] === 'string') {
      const [{ watchOrder }, { difficulties }] = await Promise.all([
        import('../../client/foreign/order.ts'),
        import('../../contract/course-choices.ts'),
      ])
      order = watchOrder(caller, operation, { params, query, signal: io.signal }, difficulties)
    }
  }

  function look(data: readonly unknown[]): void {
    rows += data.length
    for (const [name, path] of absent) {
      if (data.some((row) => valueAt(row, path) !== undefined)) absent.delete(name)
    }
  }

  return {
    async *pages(pages) {
      const source = pages[Symbol.asyncIterator]()
      const first = await source.next()
      if (first.done) return
      const all = startingWith(first.value, source)
      if (first.value.strict) {
        absent.clear()
        yield* all
        return
      }
      await open()
      const ordered = order ? order.pages(all) : all
      for await (const page of filter ? filter.pages(ordered) : ordered) {
        look(page.data)
        yield page
      }
    },
    note: async () => {
      await filter?.note()
      if (rows === 0 || absent.size === 0) return
      await output.note(`The platform does not send ${[...absent.keys()].join(', ')}`)
    },
    assertJudged: () => filter?.assertJudged(),
    noteOrder: async (cut) => {
      const host = platformName(session.target())
      const result = (await order?.result(cut !== null)) ?? null
      if (result === 'unknown') {
        await output.note(`Cannot check --sort: ${host} sent rows without ${order?.field}`)
      }
      if (result !== 'ignored') return
      if (cut === null) return output.note(`${host} ignored --sort; the rows are in its own order`)
      const message = `${host} ignored --sort: these may not be the first ${cut}`
      const hint = 'Use --all to get all rows, in the order of the platform'
      throw new CommandError('not_sorted', 'failure', message, { hint })
    },
  }
}

/** Returns the paths of chosen columns by name; `declared` are the API's columns, of which a name may be the end. */
export function pathsOfColumns(
  names: readonly string[] | null,
  declared: readonly string[],
): ReadonlyMap<string, string> {
  return new Map((names ?? []).map((name) => [name, matchingPaths(name, declared)[0] ?? name]))
}

/** Yields an item that was read ahead, then the rest. */
async function* startingWith<Item>(first: Item, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
