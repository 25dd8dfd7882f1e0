import type { HttpHeaders, Transport } from '../../contract/http.ts'
import type { IdPrefix } from '../database/id.ts'
import { everyHeader } from '../http/request-context.ts'

const exposeHeaders = [
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
  'WWW-Authenticate',
  'X-Request-Id',
].join(',')
const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].join(',')

/**
 * Lets pages of these origins read what a transport answers (Fetch standard, §3.2): preflight requests are answered
 * here, whoever sends them. Without origins nothing is added.
 */
export function withCors(
  handle: Transport,
  origins: readonly string[],
  newId: (prefix: IdPrefix) => string,
): Transport {
  if (origins.length === 0) return handle
  return async (request) => {
    const origin = request.headers['origin']
    const allowed: HttpHeaders =
      origin !== undefined && origins.includes(origin) ? { 'access-control-allow-origin': origin } : {}
    if (request.method === 'OPTIONS') {
      const asked = request.headers['access-control-request-headers']
      const headers = {
        ...everyHeader,
        'x-request-id': newId('req'),
        ...allowed,
        'access-control-allow-methods': allowMethods,
        ...(asked !== undefined && { 'access-control-allow-headers': asked }),
        vary: 'Origin, Access-Control-Request-Headers',
      }
      return { status: 204, headers, body: null }
    }
    const response = await handle(request)
    const headers = {
      ...response.headers,
      ...allowed,
      'access-control-expose-headers': exposeHeaders,
      vary: 'Origin',
    }
    return { ...response, headers }
  }
}
