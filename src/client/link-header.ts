const linkPattern = /<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)/g
const parameterPattern = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g

/** The target of the first link with the relation `next` in a Link header (RFC 8288), as it is written there. */
export function nextLinkOf(header: string | null): string | null {
  for (const [, reference = '', parameters = ''] of (header ?? '').matchAll(linkPattern)) {
    const relation = [...parameters.matchAll(parameterPattern)].find(
      ([, name]) => name?.toLowerCase() === 'rel',
    )
    const names = (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/)
    if (names.includes('next')) return reference
  }
  return null
}
