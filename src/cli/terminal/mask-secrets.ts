/** Replaces a secret in shown text. */
export const masked = '***'

/** Masks secrets in a text: as they are, as JSON writes them, and as URLs encode them. */
export function maskSecretsInText(text: string, secrets: readonly string[]): string {
  // A shorter secret may be part of other words.
  const known = secrets.filter((secret) => secret.length >= 4)
  const written = known.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  return written.reduce((rest, each) => rest.replaceAll(each, masked), text)
}
