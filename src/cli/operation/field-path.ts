/**
 * Converts a JSON pointer (RFC 6901), also in a fragment, to a dotted path: `#/profile/firstName` is
 * `profile.firstName`.
 */
export function fieldPath(pointer: string): string {
  const parts = pointer.replace(/^#?\/?/, '').split('/')
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}
