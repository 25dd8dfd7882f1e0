/** Patterns of User-Agent by browser. The first match counts, because each browser also names its ancestors. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['Chrom', 'Chrome'],
  ['CriOS', 'Chrome'],
  ['Safari', 'Safari'],
] as const

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** Maximum length of a User-Agent to parse; browsers send less. */
const longestUserAgent = 512

/** Returns the browser and system, `Firefox on Linux`; nothing finer, which could identify a person. */
export function browserIn(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, longestUserAgent)
  const named = (names: readonly (readonly [string, string])[]) =>
    names.find(([part]) => text.includes(part))?.[1]
  const browser = named(browsers) ?? 'Unknown browser'
  const system = named(systems)
  return system ? `${browser} on ${system}` : browser
}

/**
 * Returns an approximate network: the first 24 bits of an IPv4 address, `192.0.2.*`, or the first 48 of an IPv6
 * network, `2001:db8:1::/48`. Providers assign these to a place, not to a person.
 */
export function placeOf(network: string): string {
  if (network.includes(':')) return `${network.split(':', 3).join(':')}::/48`
  return network.replace(/\.\d+$/, '.*')
}
