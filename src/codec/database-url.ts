import { unescape as percentDecoded } from 'node:querystring'

/**
 * True for the URL of a PostgreSQL database, even a malformed one: taken for a path, it would be shown with
 * its password.
 */
export function isDatabaseUrl(text: string): boolean {
  return /^\s*postgres(ql)?:\/\//i.test(text)
}

/** Returns passwords as written and decoded, so that none of them is shown. */
export function databaseSecrets(text: string | null | undefined): string[] {
  if (!text || !isDatabaseUrl(text)) return []
  const named = /[?&]password=([^&#]+)/.exec(text)?.[1]
  return [...urlPasswords(text), ...(named === undefined ? [] : [named, percentDecoded(named)])]
}

/**
 * Returns the password in a URL, with or without its scheme, as written and decoded. Without a password, the
 * user name may be a token.
 */
export function urlPasswords(text: string): string[] {
  // Up to the last @, even beyond the end of the host: a password may contain characters that should have
  // been encoded.
  const [, user = '', password] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^:@/]*)(?::(.*))?@/is.exec(text) ?? []
  const secret = password || user
  return secret === '' ? [] : [secret, percentDecoded(secret)]
}
