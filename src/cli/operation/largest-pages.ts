import type { AnyInput, Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { unlessRefused } from '../../client/foreign/filter.ts'
import { bareName } from '../../client/foreign/names.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import { maximumPageSize } from '../../contract/page-size.ts'
import { valueAt } from '../output/columns.ts'
import { publishedApi, publishedOperation } from './published-api.ts'

/** The parameter by which a platform takes the size of a page, and the size that is asked for. */
interface PageSize {
  readonly name: string
  readonly size: number
}

/** Maximum items asked for in one page, whatever the platform allows. */
const maxPageSize = 1000
/** What platforms call the size of a page, without case and separators. */
const sizeNames: ReadonlySet<string> = new Set([
  ...['limit', 'perpage', 'pagesize', 'itemsperpage', 'size', 'maxresults', 'maxpagesize', '$top', 'take'],
])

/**
 * All pages of a list, as large as a platform elsewhere allows. If its first page is not the last one, its OpenAPI document
 * says how large pages may be, or the page itself how its size is called; then the list is begun again with that.
 */
export async function* largestPages(
  caller: Caller,
  operation: Operation,
  input: AnyInput,
  signal: AbortSignal,
): AsyncGenerator<Page<Operation>> {
  const usual = caller.pages(operation, input)
  const first = await usual.next()
  if (first.done) return
  const { strict, more, data, around } = first.value
  // A server of ours has the size that it was asked for.
  const larger = more && !strict ? await largerSize(caller, operation, around, signal) : null
  if (larger) {
    const { limit: _, ...query } = input.query ?? {}
    const pages = caller.pages(operation, { ...input, query: { ...query, [larger.name]: larger.size } })
    const page = await unlessRefused(() => pages.next())
    if (page?.done === false && page.value.data.length > data.length) {
      await usual.return(undefined)
      yield page.value
      yield* pages
      return
    }
    await pages.return(undefined)
  }
  yield first.value
  yield* usual
}

/** Null where `limit` with the largest size of ours is all that can be asked for. */
async function largerSize(
  caller: Caller,
  operation: Operation,
  body: unknown,
  signal: AbortSignal,
): Promise<PageSize | null> {
  const document = await unlessRefused(() => publishedApi(caller, signal))
  const size = documentedSize(document, operation) ?? shownSize(body)
  return size && (size.name !== 'limit' || size.size > maximumPageSize) ? size : null
}

function documentedSize(document: JsonObject | null, operation: Operation): PageSize | null {
  const parameters = publishedOperation(document, operation)?.['parameters']
  for (const each of Array.isArray(parameters) ? parameters : []) {
    const reference = valueAt(each, '$ref')
    const [, shared] = /^#\/components\/parameters\/([\w.-]+)$/.exec(String(reference)) ?? []
    const parameter = shared === undefined ? each : sharedParameter(document, shared)
    const name = valueAt(parameter, 'name')
    if (typeof name !== 'string' || !sizeNames.has(bareName(name))) continue
    const maximum = valueAt(parameter, 'schema.maximum') ?? valueAt(parameter, 'maximum')
    const allowed = typeof maximum === 'number' && maximum >= 1 ? Math.floor(maximum) : maximumPageSize
    return { name, size: Math.min(allowed, maxPageSize) }
  }
  return null
}

function sharedParameter(document: JsonObject | null, name: string): unknown {
  const shared = valueAt(document, 'components.parameters')
  return isJsonObject(shared) ? shared[name] : undefined
}

/** The name that a page has for its size, such as `per_page` in `{"meta": {"per_page": 20}}`. */
function shownSize(body: unknown, depth = 1): PageSize | null {
  if (!isJsonObject(body)) return null
  const name = Object.keys(body).find((key) => sizeNames.has(bareName(key)) && Number(body[key]) > 0)
  if (name !== undefined) return { name, size: maximumPageSize }
  if (depth === 0) return null
  return Object.values(body).reduce<PageSize | null>(
    (found, each) => found ?? shownSize(each, depth - 1),
    null,
  )
}
