/**
 * Secrets that the start of a server prints once: the key of a new academy, and a password for the first
 * admin.
 */
export interface FirstSecrets {
  readonly key?: string
  readonly email?: string
  readonly password?: string
}

/** Formats the URL of a server, followed by its first secrets, one per line. */
export function startText(url: string, { key, email, password }: FirstSecrets): string {
  const lines = [
    url,
    key === undefined ? [] : `Admin API key (shown only once): ${key}`,
    password === undefined
      ? []
      : `Password for ${email} at ${dashboardOf(url)} (shown only once): ${password}`,
  ]
  return `${lines.flat().join('\n')}\n`
}

/** Returns the URL of a server's dashboard. */
export function dashboardOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/dashboard`
}
