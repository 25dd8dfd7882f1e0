import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { AnyInput, Page } from '../call.ts'
import type { Caller } from '../caller.ts'
import { publishedApi, publishedOperation } from '../published-api.ts'
import { unlessRefused } from './filter.ts'
import { bareName } from './names.ts'

/** Parameter for the size of a page, and the size to request. */
interface PageSize {
  readonly name: string
  readonly size: number
}

/** Maximum number of items to request in a page. */
const maxRequestedSize = 1000
/** Names that platforms use for the size of a page, in lower case without separators. */
const sizeNames: ReadonlySet<string> = new Set([
  ...['limit', 'perpage', 'pagesize', 'itemsperpage', 'size', 'maxresults', 'maxpagesize', '$top', 'take'],
])

/**
 * Reads a list again in the largest pages that a platform allows; null if they are no larger than the first page. Takes
 * the maximum from its OpenAPI document, or else the parameter's name from the first page.
 */
export async function largerPages(
  caller: Caller,
  operation: Operation,
  input: AnyInput,
  { data, around }: Page<Operation>,
  signal: AbortSignal,
): Promise<AsyncIterable<Page<Operation>> | null> {
  const larger = await largerSize(caller, operation, around, signal)
  if (!larger) return null
  const { limit: _, ...query } = input.query ?? {}
  const pages = caller.pages(operation, { ...input, query: { ...query, [larger.name]: larger.size } })
  const page = await unlessRefused(() => pages.next())
  if (page?.done === false && page.value.data.length > data.length) return startingWith(page.value, pages)
  await pages.return(undefined)
  return null
}

async function* startingWith(
  first: Page<Operation>,
  rest: AsyncIterable<Page<Operation>>,
): AsyncGenerator<Page<Operation>> {
  yield first
  yield* rest
}

/** Returns the largest size; null if only `limit` with the maximum of this API can be requested. */
async function largerSize(
  caller: Caller,
  operation: Operation,
  body: unknown,
  signal: AbortSignal,
): Promise<PageSize | null> {
  const document = await unlessRefused(() => publishedApi(caller, signal))
  const size = documentedSize(document, operation) ?? shownSize(body)
  return size && (size.name !== 'limit' || size.size > maxPageSize) ? size : null
}

function documentedSize(document: JsonObject | null, operation: Operation): PageSize | null {
  const parameters = publishedOperation(document, operation)?.['parameters']
  for (const each of Array.isArray(parameters) ? parameters : []) {
    const reference = memberAt(each, '$ref')
    const [, shared] = /^#\/components\/parameters\/([\w.-]+)$/.exec(String(reference)) ?? []
    const parameter = shared === undefined ? each : sharedParameter(document, shared)
    const name = memberAt(parameter, 'name')
    if (typeof name !== 'string' || !sizeNames.has(bareName(name))) continue
    const maximum = memberAt(memberAt(parameter, 'schema'), 'maximum') ?? memberAt(parameter, 'maximum')
    const allowed = typeof maximum === 'number' && maximum >= 1 ? Math.floor(maximum) : maxPageSize
    return { name, size: Math.min(allowed, maxRequestedSize) }
  }
  return null
}

function sharedParameter(document: JsonObject | null, name: string): unknown {
  const shared = memberAt(memberAt(document, 'components'), 'parameters')
  return isJsonObject(shared) ? shared[name] : undefined
}

/** Returns the page size that a body shows, such as `per_page` in `{"meta": {"per_page": 20}}`. */
function shownSize(body: unknown, depth = 1): PageSize | null {
  if (!isJsonObject(body)) return null
  const name = Object.keys(body).find((key) => sizeNames.has(bareName(key)) && Number(body[key]) > 0)
  if (name !== undefined) return { name, size: maxPageSize }
  if (depth === 0) return null
  return Object.values(body).reduce<PageSize | null>(
    (found, each) => found ?? shownSize(each, depth - 1),
    null,
  )
}

function memberAt(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}
