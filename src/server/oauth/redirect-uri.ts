const loopbackPort = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/

/**
 * True for a redirect URI that is registered: the same, character by character, but for the port on the literals
 * 127.0.0.1 and [::1] (RFC 9700 §4.1.3, RFC 8252 §7.3). Nothing is normalised first, so that no two readers can
 * disagree about where it leads.
 */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  return registered.some((uri) => withoutPort(uri) === withoutPort(asked)) && URL.canParse(asked)
}

/** The address that carries an answer back; what it had for a query stays as it is (RFC 6749 §3.1.2). */
export function answerAddress(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) query.set(name, value)
  const link = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return `${uri}${link}${query}`
}

/**
 * The source expression by which a Content-Security-Policy lets a form lead there (CSP Level 3 §2.3.1): the origin,
 * and for what has none that can be written there, as IPv6 has not, the scheme.
 */
export function formTargetOf(uri: string): string {
  const { origin, protocol } = new URL(uri)
  return /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin) ? origin : protocol
}

/** Where a redirect URI leads, in words. */
export function placeOf(uri: string): string {
  const { protocol, hostname, host } = new URL(uri)
  if (protocol !== 'http:' && protocol !== 'https:') return `the app that opens ${protocol} links`
  const own = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  return own ? `a program on this computer (${host})` : host
}

function withoutPort(uri: string): string {
  return uri.replace(loopbackPort, '$1')
}
