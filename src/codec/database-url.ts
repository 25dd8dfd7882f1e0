/**
 * True for the URL of a database on a server, well formed or not, which is never a path: as a path it would be shown, with the
 * password in it.
 */
export function isDatabaseUrl(text: string): boolean {
  return /^\s*postgres(ql)?:\/\//i.test(text)
}

/** The passwords in such a URL, as written and as meant: none of them is to be shown. */
export function databaseSecrets(text: string | null | undefined): string[] {
  if (!text || !isDatabaseUrl(text)) return []
  const named = /[?&]password=([^&#]+)/.exec(text)?.[1]
  return [...urlPasswords(text), ...(named === undefined ? [] : [named, meant(named)])]
}

/** The password in a URL, with or without its scheme, as written and as meant; without one, a user name may be a token. */
export function urlPasswords(text: string): string[] {
  // Up to the last @, and beyond what would end the host: a password that is not encoded is one all the same.
  const [, user = '', password] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^:@/]*)(?::(.*))?@/is.exec(text) ?? []
  const secret = password || user
  return secret === '' ? [] : [secret, meant(secret)]
}

function meant(secret: string): string {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}
