import { isLoopbackHost } from '../codec/network-address.ts'
import { RequestError } from './errors.ts'

/**
 * Returns the base URL: `https://host/path` without a trailing slash and without a final `/v1`, which operation
 * paths contain. Throws RequestError for an address that is not http or https, or that has a user, query or
 * fragment.
 */
export function normaliseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RequestError('invalid_base_url', `${text} is not an http or https URL`)
  }
  // The message omits the address, which may contain a password.
  if (url.username || url.password) {
    throw new RequestError(
      'invalid_base_url',
      `The URL of ${url.host} must not contain a user name or password`,
    )
  }
  if (url.search || url.hash) {
    throw new RequestError('invalid_base_url', `${text} must not contain a query or fragment`)
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '')
  return url.origin + path
}

/** True for `localhost`, its subdomains (RFC 6761 §6.3) and the loopback addresses. */
export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname)
}

/** True if requests to this address cannot be read on the way: https, or loopback. */
export function isConfidential(url: string): boolean {
  return url.startsWith('https:') || isLoopback(url)
}

/**
 * Throws RequestError if requests to this base URL would send a credential unencrypted: http to another host than
 * loopback.
 */
export function assertConfidential(baseUrl: string): void {
  if (isConfidential(baseUrl)) return
  const { host } = new URL(baseUrl)
  throw new RequestError('insecure_http', `Refusing to send the credential to ${host} over unencrypted http`)
}
