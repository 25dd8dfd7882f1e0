/** Which browser a User-Agent names: the first that fits, because each also names those that it descends from. */
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

/** More than any browser sends. */
const longestUserAgent = 512

/** A browser as its owner knows it, `Firefox on Linux`; nothing finer, which could tell one person from another. */
export function browserIn(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, longestUserAgent)
  const named = (names: readonly (readonly [string, string])[]) =>
    names.find(([part]) => text.includes(part))?.[1]
  const browser = named(browsers) ?? 'Unknown browser'
  const system = named(systems)
  return system ? `${browser} on ${system}` : browser
}

/**
 * About where a network is: of an IPv4 address the first 24 bits, `192.0.2.*`, of an IPv6 network the first 48,
 * `2001:db8:1::/48`: what a provider gives to one place, not to one person.
 */
export function placeOf(network: string): string {
  if (network.includes(':')) return `${network.split(':', 3).join(':')}::/48`
  return network.replace(/\.\d+$/, '.*')
}
