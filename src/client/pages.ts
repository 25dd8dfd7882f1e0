import type { HttpResponse } from '../contract/http.ts'
import type { OutgoingRequest } from './call-input.ts'
import { type ListBody, listOf, readJson } from './decode.ts'
import { hostOf, lineOf, ProtocolError } from './errors.ts'

/** One page as it came. */
export interface RawPage {
  readonly body: ListBody
  readonly requestId: string | null
  /** The address of the next page, absolute; null on the last one. */
  readonly next: string | null
}

/** Reads a list's reply: the next page is where `nextCursor` says, else where `Link` does (RFC 8288). */
export async function readPage(request: OutgoingRequest, reply: HttpResponse): Promise<RawPage> {
  const body = listOf(request, await readJson(request, reply))
  const next =
    body.nextCursor === null
      ? nextLinkOf(reply.headers['link'] ?? null, request.url)
      : withCursor(request.url, body.nextCursor)
  return { body, requestId: reply.headers['x-request-id'] ?? null, next }
}

/**
 * Every page from the first request on. Throws ProtocolError when the way on leads to another origin, which is never
 * followed, or back to a page that was read before.
 */
export async function* readPages(
  first: OutgoingRequest,
  read: (request: OutgoingRequest) => Promise<RawPage>,
): AsyncGenerator<RawPage> {
  const seen = new Set([first.url])
  for (let request = first; ; ) {
    const page = await read(request)
    yield page
    if (page.next === null) return
    if (new URL(page.next).origin !== new URL(first.url).origin) {
      const message = `${hostOf(request)} returned a next page on another host (${page.next}), which is not followed`
      throw new ProtocolError(request, 'foreign_link', message)
    }
    if (seen.has(page.next)) {
      const message = `${hostOf(request)} returned the same next page twice (${lineOf(request)})`
      throw new ProtocolError(request, 'cursor_repeated', message)
    }
    seen.add(page.next)
    request = { ...request, url: page.next }
  }
}

function withCursor(address: string, cursor: string): string {
  const url = new URL(address)
  url.searchParams.set('cursor', cursor)
  return url.href
}

const linkPattern = /<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g
const parameterPattern = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g

/** The target of the first link with the relation `next`, made absolute. */
function nextLinkOf(header: string | null, address: string): string | null {
  for (const [, reference = '', parameters = ''] of (header ?? '').matchAll(linkPattern)) {
    const relation = [...parameters.matchAll(parameterPattern)].find(
      ([, name]) => name?.toLowerCase() === 'rel',
    )
    const names = (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/)
    if (names.includes('next') && URL.canParse(reference, address)) return new URL(reference, address).href
  }
  return null
}
