/**
 * Returns the network of an address as one subscriber has it: the address itself for IPv4, the first 64 bits
 * for IPv6 (RFC 6177). An IPv4-mapped IPv6 address counts as the IPv4 address.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const before = groupsIn(head)
  const after = groupsIn(tail ?? '')
  const zeros = Array.from(
    { length: tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length) },
    () => '0',
  )
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** Returns the groups of an IPv6 address; an IPv4 address at its end is two groups. */
function groupsIn(part: string): string[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
