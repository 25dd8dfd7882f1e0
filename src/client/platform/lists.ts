import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { hostOf, lineOf, PlatformError, ProtocolError, type Target } from '../errors.ts'
import { isIdentifier, letters, memberAt, memberOf, stepsOf } from './fields.ts'
import type { FoundCall } from './operations.ts'
import type { Lists, NextPage } from './platform-schema.ts'

export interface ForeignPage {
  readonly rows: readonly unknown[]
  /** A URL, or the value of the described parameter; null after the last page. */
  readonly next: string | null
  readonly total: number | null
}

export interface PageReply {
  readonly target: Target
  readonly found: FoundCall
  readonly body: unknown
  readonly headers: HttpHeaders
  readonly sent: URLSearchParams
}

/** Stands for a cursor: the page was full, without saying whether more follow. */
export const unknownNext = 'learnctl:unknown'

/** Throws PlatformError for a body without the list. */
export function readPage(reply: PageReply, lists: Lists | null): ForeignPage {
  const { target, found, body, headers, sent } = reply
  const rows = lists?.items === undefined ? listIn(body, found) : memberAt(body, stepsOf(lists.items))
  if (!Array.isArray(rows)) throw noList(reply, lists)
  const total = countIn(body, headers, lists)
  const next = lists?.next ?? null
  const cursor = next === null ? usualNext(reply) : describedNext(reply, rows.length, total, next)
  if (cursor !== null && /^https?:/i.test(cursor) && new URL(cursor).origin !== new URL(target.url).origin) {
    const message = `${hostOf(target)} returned a next page on another host (${cursor}), which is not followed`
    throw new ProtocolError(target, 'foreign_link', message)
  }
  if (cursor !== null) return { rows, next: cursor, total }
  const isFirst = found.query.get('cursor') === null
  if (total !== null && isFirst && total > rows.length) throw incomplete(target, rows.length, total)
  if (next !== null) return { rows, next: null, total }
  const isFull = rows.length > 0 && rows.length === Number(sent.get('limit'))
  return { rows, next: isFull ? unknownNext : null, total }
}

export function incomplete(target: Target, rows: number, total: number | null): PlatformError {
  const part = total === null ? `${rows} rows, as many as were asked for` : `${rows} of ${total} rows`
  const message = `${hostOf(target)} returned ${part}, without a next page (${lineOf(target)})`
  const line =
    total === null ? 'lists: { next: none }   # or how the next page is named' : 'lists: { next: … }'
  return new PlatformError(target, message, line, 'incomplete')
}

/** Returns the bare array, or the one array under `data`, `items`, `results` or the resource's name. */
function listIn(body: unknown, { operation, noun }: FoundCall): unknown {
  if (!isJsonObject(body)) return body
  const resource = operation.path.split('/').at(-1) ?? ''
  const names = new Set(['data', 'items', 'results', letters(resource), letters(`${noun}s`)])
  const lists = Object.entries(body).filter(
    ([name, value]) => Array.isArray(value) && names.has(letters(name)),
  )
  return lists.length === 1 ? lists[0]?.[1] : undefined
}

function noList({ target, found, body }: PageReply, lists: Lists | null): PlatformError {
  const { id } = found.operation
  const place = lists?.items ?? 'an array, or one under data, items, results or the name of the resource'
  const message = `${hostOf(target)} sent no list for ${id}: expected ${place}, found ${outline(body)}`
  return new PlatformError(target, message, 'lists: { items: /… }')
}

export function outline(body: unknown): string {
  if (Array.isArray(body)) return `an array of ${body.length}`
  const names = isJsonObject(body) ? Object.keys(body) : null
  if (names?.length === 0) return 'an empty object'
  const text = names ? `an object with ${names.join(', ')}` : JSON.stringify(body ?? null)
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

/** `total`, `totalCount` or `X-Total-Count`, or at the described place. */
function countIn(body: unknown, headers: HttpHeaders, lists: Lists | null): number | null {
  const shown =
    lists?.total !== undefined
      ? memberAt(body, stepsOf(lists.total))
      : (memberOf(body, 'total') ?? memberOf(body, 'totalCount') ?? headers['x-total-count'])
  const total = Number(shown ?? Number.NaN)
  return Number.isSafeInteger(total) && total >= 0 ? total : null
}

/** Returns the next page by the rules: `nextCursor`, a `Link` header, or the URL in `next` or `links.next`. */
function usualNext({ target, body, headers }: PageReply): string | null {
  const cursor = memberOf(body, 'nextCursor')
  if (isIdentifier(cursor)) return String(cursor)
  const links = [memberOf(body, 'links'), memberOf(body, '_links')].map((each) => memberOf(each, 'next'))
  const urls = [nextLinkOf(headers['link'] ?? ''), memberOf(body, 'next'), ...links]
  for (const each of urls) {
    const url = isJsonObject(each) ? each['href'] : each
    if (typeof url === 'string' && /^(https?:\/\/|\/|\?)/i.test(url)) return absolute(url, target)
    if (isIdentifier(url)) {
      const message = `${hostOf(target)} sent the next page ${jsonText(url)}, which is no URL (${lineOf(target)})`
      throw new PlatformError(target, message, 'lists: { next: … }')
    }
  }
  return null
}

function describedNext(
  { target, body, headers, sent }: PageReply,
  rows: number,
  total: number | null,
  next: NextPage,
): string | null {
  if (next === 'none') return null
  if ('link' in next) return absoluteOrNull(nextLinkOf(headers['link'] ?? ''), target)
  if ('url' in next) return absoluteOrNull(memberAt(body, stepsOf(next.url)), target)
  if ('cursor' in next) {
    const cursor = memberAt(body, stepsOf(next.cursor))
    return cursor === undefined || cursor === null || cursor === '' ? null : String(cursor)
  }
  if ('page' in next) {
    const first = next.first ?? 1
    const number = Number(sent.get(next.page) ?? first)
    const last = next.last === undefined ? null : Number(memberAt(body, stepsOf(next.last)) ?? Number.NaN)
    if (Number.isNaN(last)) {
      const message = `${hostOf(target)} sent no number of the last page at ${next.last} (${lineOf(target)})`
      throw new PlatformError(target, message, `lists: { next: { page: ${next.page}, last: /… } }`)
    }
    const isLast = last === null ? rows === 0 : !(number < last)
    return isLast ? null : String(number + 1)
  }
  const read = Number(sent.get(next.offset) ?? 0) + rows
  return (total === null ? rows === 0 : read >= total) ? null : String(read)
}

function absoluteOrNull(url: unknown, target: Target): string | null {
  return typeof url === 'string' && url !== '' ? absolute(url, target) : null
}

/** Returns a link as a URL; https stays https where a platform behind a proxy writes http to the same host. */
function absolute(link: string, { url }: Target): string {
  const next = new URL(link, url)
  const from = new URL(url)
  return next.host === from.host ? new URL(next.pathname + next.search, from).href : next.href
}

const linkPattern = /<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g

/** Returns the target of the `next` link in a Link header (RFC 8288). */
function nextLinkOf(header: string): string | null {
  for (const [, target = '', parameters = ''] of header.matchAll(linkPattern)) {
    const [, quoted, bare] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(parameters) ?? []
    if (/(^|\s)next(\s|$)/i.test(quoted ?? bare ?? '')) return target
  }
  return null
}

export function pageQuery(query: URLSearchParams, lists: Lists | null): URLSearchParams {
  const asked = new URLSearchParams(query)
  if (lists === null) return asked
  const [cursor, limit] = [asked.get('cursor'), asked.get('limit')]
  for (const name of ['cursor', 'limit', 'include_total']) asked.delete(name)
  const { next = 'none', size } = lists
  if (size) asked.set(size.parameter, String(Math.min(Number(limit ?? size.maximum), size.maximum)))
  if (next === 'none' || 'link' in next || 'url' in next) return asked
  if ('cursor' in next && cursor !== null) asked.set(next.parameter, cursor)
  if ('page' in next) asked.set(next.page, cursor ?? String(next.first ?? 1))
  if ('offset' in next) asked.set(next.offset, cursor ?? '0')
  return asked
}

export function pageMembers(body: unknown, rows: readonly unknown[]): JsonObject {
  const members = isJsonObject(body) ? Object.entries(body).filter(([, value]) => value !== rows) : []
  return Object.fromEntries(members)
}
