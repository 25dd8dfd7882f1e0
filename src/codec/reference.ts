/** `ext:<externalId>` and `email:<address>`; without either, an id. */
export interface Reference {
  readonly by: 'id' | 'ext' | 'email'
  readonly value: string
}

/** A text without `ext:` or `email:` is an id. */
export function parseReference(text: string): Reference {
  if (text.startsWith('ext:')) return { by: 'ext', value: text.slice(4) }
  if (text.startsWith('email:')) return { by: 'email', value: text.slice(6) }
  return { by: 'id', value: text }
}

/** Addresses are compared without case. */
export function matchesReference({ by, value }: Reference, found: unknown): boolean {
  const text = String(found)
  return by === 'email' ? text.toLowerCase() === value.toLowerCase() : text === value
}

/**
 * Joins references with commas. A single one stays as it is; among several, a comma within one is written
 * `\,`.
 */
export function joinReferences(references: readonly string[]): string {
  if (references.length === 1) return references[0] ?? ''
  return references.map(escapeReference).join(',')
}

export function escapeReference(reference: string): string {
  return reference.replaceAll(/[\\,]/g, '\\$&')
}

export function splitReferences(list: string): string[] {
  // With a comma after each reference, the last is no special case.
  const parts = `${list},`.matchAll(/((?:\\[\\,]|[^,])*),/g)
  return Array.from(parts, ([, part = '']) => part.replaceAll(/\\([\\,])/g, '$1').trim())
}
