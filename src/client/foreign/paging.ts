import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { bareName } from './names.ts'

/** A query parameter and its value. */
export interface Parameter {
  readonly name: string
  readonly value: string
}

/** What a page of a list says about where it stands; null for what it does not say. */
export interface PagingHints {
  /** The parameter that asks for the next page, where the platform gave its value: a cursor or a token. */
  readonly cursor: Parameter | null
  /** The address of the next page as it was given: absolute, or relative to that of this one. */
  readonly address: string | null
  /** The number of this page as it counts them, and the parameter that takes one. */
  readonly page: Parameter | null
  /** The number of the next page. */
  readonly nextPage: number | null
  readonly pages: number | null
  readonly offset: Parameter | null
  /** How many items the whole list has. */
  readonly total: number | null
  /** How many items a page has. */
  readonly size: number | null
  /** Whether there are more. */
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
 * What a page says, in its body and its headers, in any of the styles that platforms have.
 *
 * @param around the objects that the list is in
 */
export function hintsIn(around: readonly JsonObject[], headers: HttpHeaders): PagingHints {
  const said = new Map(around.flatMap((object) => saidIn(object)).reverse())
  const find = <Value>(names: readonly string[], read: (value: unknown) => Value | null) => {
    for (const name of names) {
      const entry = said.get(name)
      const value = entry === undefined ? null : read(entry.value)
      if (entry && value !== null) return { name: entry.name, value }
    }
    return null
  }
  const valueIn = <Value>(names: readonly string[], read: (value: unknown) => Value | null) =>
    find(names, read)?.value ?? null
  const spring = said.has('totalpages') ? find(['number'], countOf) : null
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

/** What an object says about paging, and the objects in it that are there for that, the nearest to the list first. */
function saidIn(object: JsonObject, depth = 2): (readonly [string, Said])[] {
  const own = Object.entries(object).flatMap(([name, value]) => {
    if (Array.isArray(value)) return bareLinkName(name) === 'links' ? relationsIn(value) : []
    return [[bareLinkName(name), { name, value }] as const]
  })
  const inner = Object.entries(object).flatMap(([name, value]) =>
    depth > 0 && isJsonObject(value) && pagingObjects.has(bareLinkName(name)) ? saidIn(value, depth - 1) : [],
  )
  return [...own, ...inner]
}

/** `@odata.nextLink` and `opensearch:totalResults` without what stands in front. */
function bareLinkName(name: string): string {
  return bareName(name.replace(/^.*[.:@$]/, ''))
}

/** Links as a list: `[{"rel": "next", "href": "…"}]`. */
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
  // GraphQL says where this page ends, also on the last one.
  const end = find(mores, flagOf)?.value === true ? find(['endcursor', 'after'], tokenOf) : null
  if (end) return { name: 'after', value: end.value }
  const next = find(['next'], (value) => (addressOf(value) === null ? tokenOf(value) : null))
  return next && { name: 'cursor', value: next.value }
}

/** The parameter that takes what a field gives: `next_cursor` is sent as `cursor`, `nextPageToken` as `pageToken`. */
function parameterOf(field: string): string {
  const bare = field.replace(/^.*[.:@$]/, '')
  if (/^next_?token$/i.test(bare) || /^continuation/i.test(bare)) return bare
  const rest = bare.replace(/^next_?/i, '')
  return /cursor$/i.test(rest) ? 'cursor' : rest.charAt(0).toLowerCase() + rest.slice(1)
}

/** A text that cannot be taken for an address or a number. */
function tokenOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A cursor that is a number; 0 and -1 are the end. */
function positive(value: unknown): unknown {
  return (typeof value === 'number' || typeof value === 'bigint') && value > 0 ? String(value) : value
}

function addressOf(value: unknown): string | null {
  if (isJsonObject(value)) return addressOf(value['href'] ?? value['url'])
  return typeof value === 'string' && /^(https?:\/\/|\/|\?)/i.test(value) ? value : null
}

/** A whole number from 0 on, also as text. */
function countOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+(\.0+)?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 'true' ? true : value === 'false' ? false : null
}

/** `X-Total-Count: 30`, `X-Total: 30`, `Content-Range: items 0-9/30`. */
function totalIn(headers: HttpHeaders): number | null {
  const ranged = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]
  return countOf(headers['x-total-count'] ?? headers['x-total'] ?? ranged)
}

const linkPattern = /<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g
const parameterPattern = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g

/** The target of the first link with the relation `next` in a Link header (RFC 8288), as it is written there. */
export function nextLinkOf(header: string | null): string | null {
  for (const [, reference = '', parameters = ''] of (header ?? '').matchAll(linkPattern)) {
    const relation = [...parameters.matchAll(parameterPattern)].find(
      ([, name]) => name?.toLowerCase() === 'rel',
    )
    const names = (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/)
    if (names.includes('next')) return reference
  }
  return null
}
