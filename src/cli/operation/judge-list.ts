import type { Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import type { Filtering, RowFilter } from '../../client/foreign/filter.ts'
import type { OrderWatch } from '../../client/foreign/order.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { matchingPaths, valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { ignoreFiltersFlag } from './operation-flags.ts'
import type { Finding } from './operation-spec.ts'

/** A requested list, with the flags and columns of the command line. */
interface AskedList extends Filtering {
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
interface JudgedList {
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
export function judgeList(context: Context, caller: Caller, asked: AskedList): JudgedList {
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
      if (!(await ignoresFilters(context, flags)))
        filter = await platformFilter(context, caller, asked, flagOf)
    }
    if (typeof query['sort'] === 'string') {
      const [{ watchOrder }, { difficulties }] = await Promise.all([
        import('../../client/foreign/order.ts'),
        import('../../contract/constants.ts'),
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
      for await (const page of filter ? filter.rows.pages(ordered) : ordered) {
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

/** The filter of a list's rows, and reports on what the platform ignored. */
export interface PlatformFilter {
  readonly rows: RowFilter
  /** Notes which filters the platform ignored. */
  note(): Promise<void>
  /** Throws a CommandError if rows were left out that could not be judged. */
  assertJudged(): void
}

/**
 * Creates the filter of one run.
 *
 * @param flagOf returns the flag that a parameter was given by, such as `--status`
 */
export async function platformFilter(
  context: Context,
  caller: Caller,
  filtering: Filtering,
  flagOf: (parameter: string) => string,
): Promise<PlatformFilter> {
  const { io, output, session } = context
  const { RowFilter } = await import('../../client/foreign/filter.ts')
  const host = platformName(session.target())
  const rows = new RowFilter(caller, filtering, io.signal)
  return {
    rows,
    note: async () => {
      const { ignored, unchecked, leftOut } = rows.facts()
      if (ignored.length > 0) {
        const flags = ignored.map(flagOf).join(', ')
        await output.note(`${host} ignored ${flags}; the rows were filtered by this command`)
      }
      for (const [parameter, why] of leftOut > 0 ? [] : unchecked) {
        await output.note(`${host} filters by ${flagOf(parameter)}, but sent rows ${why}`)
      }
    },
    assertJudged: () => {
      const { unchecked, leftOut } = rows.facts()
      if (leftOut === 0) return
      const flags = [...unchecked.keys()].map(flagOf).join(', ')
      const message = `Cannot check ${flags}: ${pluralise(leftOut, 'row')} left out`
      throw new CommandError('not_filtered', 'failure', message, {
        why: [`${host} sent rows ${[...new Set(unchecked.values())].join(' and ')}`],
        hint: `Use --${ignoreFiltersFlag.name} to get all rows that ${host} sends`,
      })
    },
  }
}

/** True if the rows are wanted as the platform sends them (`--ignore-filters`), which a note then says. */
export async function ignoresFilters(
  { output }: Pick<Context, 'output'>,
  flags: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (flags[ignoreFiltersFlag.name] !== true) return false
  await output.note(`Rows are not checked against the filters (--${ignoreFiltersFlag.name})`)
  return true
}

/**
 * Throws a CommandError if a filter has several references and the platform does not declare that it takes them.
 *
 * @param flagOf returns the flag that a parameter was given by, such as `--course`
 */
export async function assertSeveralOffered(
  { io: { signal }, session }: Pick<Context, 'io' | 'session'>,
  caller: Caller,
  filtering: Pick<Filtering, 'operation' | 'query'>,
  flagOf: (parameter: string) => string,
): Promise<void> {
  const { operation, query } = filtering
  const hasList = Object.keys(operation.filters ?? {}).some((name) => String(query[name] ?? '').includes(','))
  if (!hasList || caller.isOurs()) return
  const { undeclaredList } = await import('../../client/foreign/filter.ts')
  const undeclared = await undeclaredList(caller, filtering, signal)
  if (undeclared === null) return
  const { parameter, isDocumented } = undeclared
  const flag = flagOf(parameter)
  const host = platformName(session.target())
  throw new CommandError('not_offered', 'failure', `${host} does not support several ${flag} values`, {
    why: [
      isDocumented
        ? `Its OpenAPI document does not declare ${parameter} as a list`
        : 'It publishes no OpenAPI document that declares them',
    ],
    hint: `Run the command once for each ${flag.replace('--', '')}`,
  })
}

/**
 * Yields pages with only the requested items, for callers that must not confuse things. Throws a CommandError if a
 * remote platform sends items that do not show the fields to check.
 *
 * @param fields fields that each item must show besides the filtered ones
 */
export async function* checkedPages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(
  context: Context,
  caller: Caller,
  filtering: Filtering,
  pages: AsyncIterable<P>,
  fields: readonly string[] = [],
): AsyncGenerator<P> {
  let filter: RowFilter | null = null
  for await (const page of pages) {
    if (page.strict) {
      yield page
      continue
    }
    filter ??= new (await import('../../client/foreign/filter.ts')).RowFilter(
      caller,
      filtering,
      context.io.signal,
    )
    const check = await filter.check()
    for (const item of check ? page.data : []) check?.learn(item)
    const verdicts = page.data.map((item) => check?.judge(item) ?? true)
    const data = page.data.filter((_, index) => verdicts[index] !== false)
    const lacking = fields.find((field) =>
      data.some((item) => !isJsonObject(item) || item[field] === undefined),
    )
    const [unjudged] = verdicts.find((verdict) => typeof verdict === 'object') ?? []
    const why = lacking === undefined ? unjudged?.why : `without ${lacking}`
    if (why !== undefined && data.length > 0) {
      const [noun = ''] = filtering.operation.id.split('.')
      throw new CommandError(
        'not_offered',
        'failure',
        `${platformName(context.session.target())} does not show which of its ${noun} is meant`,
        { why: [`It sent rows ${why}`] },
      )
    }
    yield { ...page, data }
  }
}

/** Lists all records that match a query, checked like `checkedPages`. */
export async function checkedRecords(
  { context, caller }: Finding,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): Promise<JsonObject[]> {
  const pages = caller.pages(operation, { query, signal: context.io.signal })
  const found: JsonObject[] = []
  for await (const { data } of checkedPages(context, caller, { operation, query }, pages)) {
    found.push(...data.filter(isJsonObject))
  }
  return found
}
