import type { Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import type { Filtering, RowFilter } from '../../client/foreign/filter.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Finding } from './operation-spec.ts'

/**
 * Yields pages with only the requested items, for callers that must not confuse things. Throws a CommandError if a
 * remote platform sends items that do not show the fields to check.
 *
 * @param fields fields that each item must show besides the filtered ones
 */
export async function* surePages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(
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
    filter ??= await filterOf(context, caller, filtering)
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

/** Lists all records that match a query, checked like `surePages`. */
export async function sureRecords(
  { context, caller }: Finding,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): Promise<JsonObject[]> {
  const pages = caller.pages(operation, { query, signal: context.io.signal })
  const found: JsonObject[] = []
  for await (const { data } of surePages(context, caller, { operation, query }, pages)) {
    found.push(...data.filter(isJsonObject))
  }
  return found
}

async function filterOf(context: Context, caller: Caller, filtering: Filtering): Promise<RowFilter> {
  const [{ createRowFilter }, { referenceResolver }] = await Promise.all([
    import('../../client/foreign/filter.ts'),
    import('./shown-things.ts'),
  ])
  const resolve = referenceResolver(context, caller)
  return createRowFilter(caller, filtering, { resolve, signal: context.io.signal })
}
