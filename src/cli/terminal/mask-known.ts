/** What is shown in place of a secret. */
export const masked = '***'

/** A text without these secrets, wherever they stand in it: as they are, as JSON has them, or in a URL. */
export function maskKnown(text: string, secrets: readonly string[]): string {
  // Shorter ones are parts of other words.
  const known = secrets.filter((secret) => secret.length >= 4)
  const written = known.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  return written.reduce((rest, each) => rest.replaceAll(each, masked), text)
}
