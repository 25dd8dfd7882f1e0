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
  // Up to the last @, and beyond what would end the host: a password that is not encoded is one all the same.
  const written = /^[^:]*:\/\/[^:@/]*:(.+)@/s.exec(text)?.[1]
  const named = /[?&]password=([^&#]+)/.exec(text)?.[1]
  return [written, named].flatMap((secret) => (secret === undefined ? [] : [secret, meant(secret)]))
}

function meant(secret: string): string {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}
