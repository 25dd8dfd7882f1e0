/** What the start of a server tells once: the key of a new academy, and a password for the first admin. */
export interface FirstSecrets {
  readonly key?: string
  readonly email?: string
  readonly password?: string
}

/** The address of a server, and below it what is told once, each on a line of its own. */
export function startText(url: string, { key, email, password }: FirstSecrets): string {
  const lines = [
    url,
    key === undefined ? [] : `API key of the admin, shown this once: ${key}`,
    password === undefined
      ? []
      : `Password of ${email} for ${url.replace(/\/+$/, '')}/dashboard, shown this once: ${password}`,
  ]
  return `${lines.flat().join('\n')}\n`
}
