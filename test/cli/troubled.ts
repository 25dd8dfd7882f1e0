import fc from 'fast-check'
import { ConnectionError } from '../../src/client/errors.ts'
import type { HttpBody, HttpResponse, Transport } from '../../src/contract/http.ts'

/** Troubles of a request. */
export const troubles = [
  ...['none', 'none', 'none', 'none'],
  ...['429', '503', 'cut before', 'cut after', 'drip', 'drip and cut'],
] as const
export type Trouble = (typeof troubles)[number]

/** Any troubles, one for each request; then none. */
export const anyTrouble = fc.array(fc.constantFrom(...troubles), { minLength: 20, maxLength: 120 })

/** A response that asks to retry later. */
export const retryLater = (status: 429 | 503, seconds = 1): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'retry-after': String(seconds) },
  body: JSON.stringify({ title: 'Later', status, code: status === 429 ? 'rate_limited' : 'unavailable' }),
})

/** Carries requests to a platform with a trouble for each, then without. */
export function troubledTransport(transport: Transport, planned: readonly Trouble[]): Transport {
  const left = [...planned]
  return async (request) => {
    const trouble = left.shift() ?? 'none'
    if (trouble === '429' || trouble === '503') return retryLater(trouble === '429' ? 429 : 503)
    const lost = () => new ConnectionError(request, 'reset', 'Connection lost')
    if (trouble === 'cut before') throw lost()
    const response = await transport(request)
    if (trouble === 'cut after') throw lost()
    if (trouble === 'none' || response.body === null) return response
    return { ...response, body: dripping(response.body, trouble, lost) }
  }
}

/** A body in small pieces, cut off after the first of them if requested. */
async function* dripping(body: HttpBody, trouble: Trouble, lost: () => Error): AsyncGenerator<Uint8Array> {
  const step = 97
  for await (const piece of typeof body === 'string' || body instanceof Uint8Array ? [body] : body) {
    const bytes = Buffer.from(piece)
    for (let at = 0; at < bytes.length; at += step) {
      yield bytes.subarray(at, at + step)
      if (trouble === 'drip and cut') throw lost()
    }
  }
}
