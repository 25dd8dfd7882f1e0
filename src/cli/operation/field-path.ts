/** The dotted path of a JSON pointer (RFC 6901), also of one in a fragment: `#/profile/firstName` is `profile.firstName`. */
export function fieldPath(pointer: string): string {
  const parts = pointer.replace(/^#?\/?/, '').split('/')
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}
