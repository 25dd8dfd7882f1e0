import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { bareName } from './names.ts'

/** A query parameter and its value. */
export interface Parameter {
  readonly name: string
  readonly value: string
}

/** Paging information of a page; null for what is missing. */
export interface PagingHints {
  /** Parameter of the next page with the value that the platform gave: a cursor or a token. */
  readonly cursor: Parameter | null
  /** Address of the next page as given: absolute, or relative to this one. */
  readonly address: string | null
  /** Number of this page, and the parameter that sets it. */
  readonly page: Parameter | null
  /** The number of the next page. */
  readonly nextPage: number | null
  readonly pages: number | null
  readonly offset: Parameter | null
  /** Number of items in the whole list. */
  readonly total: number | null
  /** Number of items in a page. */
  readonly size: number | null
  /** True if the list has more items. */
  readonly more: boolean | null
}

const pagingObjects: ReadonlySet<string> = new Set([
  ...['meta', 'metadata', 'responsemetadata', 'pagination', 'paginator', 'paging', 'pageinfo'],
  ...['page', 'pages', 'links', 'cursor', 'cursors'],
])
const addresses = [
  ...['next', 'nextlink', 'nextpageurl', 'nexturl', 'nexthref', 'nextpagelink', 'nextpage', 'nexturi'],
  ...['nextrecordsurl'],
]
const cursors = ['nextcursor', 'nextpagecursor', 'nextpagetoken', 'nexttoken', 'continuationtoken']
const pageCounts = ['totalpages', 'lastpage', 'pagecount', 'numpages', 'pages', 'last']
const pageNumbers = ['page', 'currentpage', 'pagenumber', 'pageno', 'pageindex', 'current']
const totals = [
  ...['recordsfiltered', 'total', 'totalcount', 'totalitems', 'totalelements', 'totaldocs', 'totalresults'],
  ...['totalrecords', 'totalentries', 'numfound', 'count'],
]
const sizes = ['perpage', 'pagesize', 'limit', 'size', 'itemsperpage']
const mores = ['hasmore', 'more', 'hasnext', 'hasnextpage', 'moreavailable', 'istruncated', 'truncated']
const ends = ['last', 'islast', 'islastpage', 'done']

/**
 * Reads the paging information in a page's body and headers, in all styles that platforms use.
 *
 * @param around objects that enclose the list
 */
export function hintsIn(around: readonly JsonObject[], headers: HttpHeaders): PagingHints {
  const hints = new Map(around.flatMap((object) => membersOf(object)).reverse())
  const find = <Value>(names: readonly string[], read: (value: unknown) => Value | null) => {
    for (const name of names) {
      const entry = hints.get(name)
      const value = entry === undefined ? null : read(entry.value)
      if (entry && value !== null) return { name: entry.name, value }
    }
    return null
  }
  const valueIn = <Value>(names: readonly string[], read: (value: unknown) => Value | null) =>
    find(names, read)?.value ?? null
  const spring = hints.has('totalpages') ? find(['number'], countOf) : null
  const page = find(pageNumbers, countOf) ?? spring
  const offset = find(['offset', 'skip', 'start', 'startat'], countOf)
  const end = valueIn(ends, flagOf)

  return {
    cursor: cursorIn(find),
    address: nextLinkOf(headers['link'] ?? null) ?? valueIn(addresses, addressOf),
    page: page && { name: /^page.+$/i.test(page.name) ? page.name : 'page', value: String(page.value) },
    nextPage: valueIn(['nextpage', 'next'], countOf),
    pages: valueIn(pageCounts, countOf),
    offset: offset && { name: offset.name, value: String(offset.value) },
    total: valueIn(totals, countOf) ?? totalIn(headers),
    size: valueIn(sizes, countOf),
    more: valueIn(mores, flagOf) ?? (end === null ? null : !end),
  }
}

interface Said {
  readonly name: string
  readonly value: unknown
}

/** Returns the members of an object and of its paging objects, the nearest to the list first. */
function membersOf(object: JsonObject, depth = 2): (readonly [string, Said])[] {
  const own = Object.entries(object).flatMap(([name, value]) => {
    if (Array.isArray(value)) return bareLinkName(name) === 'links' ? relationsIn(value) : []
    return [[bareLinkName(name), { name, value }] as const]
  })
  const inner = Object.entries(object).flatMap(([name, value]) =>
    depth > 0 && isJsonObject(value) && pagingObjects.has(bareLinkName(name))
      ? membersOf(value, depth - 1)
      : [],
  )
  return [...own, ...inner]
}

/** Returns `@odata.nextLink` and `opensearch:totalResults` without their prefix. */
function bareLinkName(name: string): string {
  return bareName(name.replace(/^.*[.:@$]/, ''))
}

/** Returns links in a list: `[{"rel": "next", "href": "…"}]`. */
function relationsIn(links: readonly unknown[]): (readonly [string, Said])[] {
  return links.flatMap((link) => {
    const relation = isJsonObject(link) ? (link['rel'] ?? link['relation']) : null
    return relation === 'next' ? [['next', { name: 'next', value: link }] as const] : []
  })
}

type Find = <Value>(
  names: readonly string[],
  read: (value: unknown) => Value | null,
) => { name: string; value: Value } | null

function cursorIn(find: Find): Parameter | null {
  const named = find(cursors, (value) => tokenOf(positive(value)))
  if (named) return { name: parameterOf(named.name), value: named.value }
  // GraphQL has an end cursor on the last page, too.
  const end = find(mores, flagOf)?.value === true ? find(['endcursor', 'after'], tokenOf) : null
  if (end) return { name: 'after', value: end.value }
  const next = find(['next'], (value) => (addressOf(value) === null ? tokenOf(value) : null))
  return next && { name: 'cursor', value: next.value }
}

/** Returns the parameter for the value of a field: `cursor` for `next_cursor`, `pageToken` for `nextPageToken`. */
function parameterOf(field: string): string {
  const bare = field.replace(/^.*[.:@$]/, '')
  if (/^next_?token$/i.test(bare) || /^continuation/i.test(bare)) return bare
  const rest = bare.replace(/^next_?/i, '')
  return /cursor$/i.test(rest) ? 'cursor' : rest.charAt(0).toLowerCase() + rest.slice(1)
}

/** Returns a non-empty text; null for any other value. */
function tokenOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Returns a positive number as text, any other value unchanged: as cursors, 0 and -1 mark the end. */
function positive(value: unknown): unknown {
  return (typeof value === 'number' || typeof value === 'bigint') && value > 0 ? String(value) : value
}

function addressOf(value: unknown): string | null {
  if (isJsonObject(value)) return addressOf(value['href'] ?? value['url'])
  return typeof value === 'string' && /^(https?:\/\/|\/|\?)/i.test(value) ? value : null
}

/** Returns a non-negative whole number, also from text. */
function countOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+(\.0+)?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 'true' ? true : value === 'false' ? false : null
}

/** Returns the total in `X-Total-Count: 30`, `X-Total: 30` or `Content-Range: items 0-9/30`. */
function totalIn(headers: HttpHeaders): number | null {
  const ranged = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]
  return countOf(headers['x-total-count'] ?? headers['x-total'] ?? ranged)
}

const linkPattern = /<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g
const parameterPattern = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g

/** Returns the target of the first `next` link in a Link header (RFC 8288), as written there. */
function nextLinkOf(header: string | null): string | null {
  for (const [, reference = '', parameters = ''] of (header ?? '').matchAll(linkPattern)) {
    const relation = [...parameters.matchAll(parameterPattern)].find(
      ([, name]) => name?.toLowerCase() === 'rel',
    )
    const names = (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/)
    if (names.includes('next')) return reference
  }
  return null
}
