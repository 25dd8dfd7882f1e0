/** What the start of a server tells once: the key of a new academy, and a password for the first admin. */
export interface FirstSecrets {
  readonly key?: string
  readonly email?: string
  readonly password?: string
}

/** The URL of a server, and below it what is told once, each on a line of its own. */
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

/** Where the dashboard of a server is. */
export function dashboardOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/dashboard`
}
