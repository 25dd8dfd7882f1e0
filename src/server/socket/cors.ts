import type { HttpHeaders, HttpRequest, Transport } from '../../contract/http.ts'

const exposeHeaders = [
  'Accept-Patch',
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Unchanged',
  'WWW-Authenticate',
  'X-Request-Id',
].join(',')
const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].join(',')

/**
 * Lets pages of these origins read the responses (Fetch standard, §3.2). Answers a preflight with 204 for any
 * path; errors are for the request itself.
 */
export function withCors(handle: Transport, origins: readonly string[]): Transport {
  if (origins.length === 0) return handle
  return async (request) => {
    const { origin, 'access-control-request-headers': askedHeaders } = request.headers
    const allowed: HttpHeaders =
      origin !== undefined && origins.includes(origin) ? { 'access-control-allow-origin': origin } : {}
    const { headers, ...response } = await handle(request)
    if (!isPreflight(request)) {
      const exposed = { 'access-control-expose-headers': exposeHeaders, vary: addVary(headers, 'Origin') }
      return { ...response, headers: { ...headers, ...allowed, ...exposed } }
    }
    const { 'content-type': _, ...plain } = headers
    const preflight = {
      ...plain,
      ...allowed,
      'access-control-allow-methods': allowMethods,
      ...(askedHeaders !== undefined && { 'access-control-allow-headers': askedHeaders }),
      vary: addVary(headers, 'Origin, Access-Control-Request-Headers'),
    }
    return { status: 204, headers: preflight, body: null }
  }
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function addVary({ vary }: HttpHeaders, by: string): string {
  return vary === undefined ? by : `${vary}, ${by}`
}
