/** Minimum length of the secret part of a URL whose last four characters may be shown. */
const minLengthToShowEnd = 24

/**
 * Returns the visible part of a URL that is itself a secret: its origin and its last characters,
 * `https://hooks.slack.com/...a1B2`.
 */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const letters = (pathname + search).replace(/[^A-Za-z0-9]/g, '')
  return `${origin}/...${letters.length >= minLengthToShowEnd ? letters.slice(-4) : ''}`
}

const hiddenQuery = '?...'

/** The query may hold a token: `https://example.org/hook?...`. */
export function withoutQuery(url: string): string {
  const { search } = new URL(url)
  return search === '' ? url : `${url.slice(0, -search.length)}${hiddenQuery}`
}

/** The query that `withoutQuery` removed; the URL is unchanged if it removed none. */
export function withQuery(url: string, query: string): string {
  return url.endsWith(hiddenQuery) ? url.slice(0, -hiddenQuery.length) + query : url
}

/** It cannot be used. */
export function isShownUrl(url: string): boolean {
  const { pathname, search } = new URL(url)
  return pathname.startsWith('/...') || search === hiddenQuery
}

/**
 * Returns a text without a secret: neither the whole one nor, of a URL, its path and query. A short secret is removed
 * where it is no part of a longer word, so that other text stays readable.
 */
export function withoutSecret(text: string, secret: string): string {
  const parts = [secret]
  if (URL.canParse(secret)) {
    const { pathname, search } = new URL(secret)
    parts.push(pathname + search, pathname, search.slice(1), ...new URL(secret).searchParams.values())
  }
  const clean = parts
    .filter(({ length }) => length >= minPartLength)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, part) => rest.replaceAll(part, '***'), text)
  if (secret.length >= minPartLength || secret.length < minSecretLength) return clean
  const escaped = secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const alone = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'gu')
  return clean.replace(alone, '***')
}

/** Shorter parts of a URL are words rather than secrets. */
const minPartLength = 16
/** A shorter secret is also a number or a syllable of ordinary text. */
const minSecretLength = 4
