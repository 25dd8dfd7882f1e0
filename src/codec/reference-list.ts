/** Several references as one comma list. A single one stays as it is; among several, a comma within one is `\,`. */
export function joinReferences(references: readonly string[]): string {
  if (references.length === 1) return references[0] ?? ''
  return references.map(listOfOne).join(',')
}

/** A reference where a list of them is taken: no comma in it divides it. */
export function listOfOne(reference: string): string {
  return reference.replaceAll(/[\\,]/g, '\\$&')
}

/** The references in a comma list, white space around each cut off. */
export function splitReferences(list: string): string[] {
  const parts = list.match(/(?:\\[\\,]|[^,])+|(?<=,|^)(?=,|$)/g) ?? []
  return parts.map((part) => part.replaceAll(/\\([\\,])/g, '$1').trim())
}
