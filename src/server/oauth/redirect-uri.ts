const loopbackPort = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/

/**
 * True for a registered redirect URI: equal in every character, except the port of the literals 127.0.0.1 and
 * [::1] (RFC 9700 §4.1.3, RFC 8252 §7.3). URIs are not normalized, so that all parsers agree on them.
 */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  return registered.some((uri) => removePort(uri) === removePort(asked)) && URL.canParse(asked)
}

/** Keeps the query of the URI (RFC 6749 §3.1.2). */
export function answerAddress(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) query.set(name, value)
  const link = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return `${uri}${link}${query}`
}

/**
 * Returns the source expression with which a Content-Security-Policy allows a form to lead to the URI (CSP
 * Level 3 §2.3.1): its origin, or the scheme for an origin that cannot be written, such as IPv6.
 */
export function formTargetOf(uri: string): string {
  const { origin, protocol } = new URL(uri)
  return /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin) ? origin : protocol
}

export function placeOf(uri: string): string {
  const { protocol, hostname, host } = new URL(uri)
  if (protocol !== 'http:' && protocol !== 'https:') return `the app that opens ${protocol} links`
  const own = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  return own ? `a program on this computer (${host})` : host
}

function removePort(uri: string): string {
  return uri.replace(loopbackPort, '$1')
}
