/** What a thing is referred to by: its id, the school's own `ext:<externalId>`, or a user's `email:<address>`. */
export interface Reference {
  readonly by: 'id' | 'ext' | 'email'
  readonly value: string
}

/** Reads a reference; what begins with neither `ext:` nor `email:` is an id. */
export function parseReference(text: string): Reference {
  if (text.startsWith('ext:')) return { by: 'ext', value: text.slice(4) }
  if (text.startsWith('email:')) return { by: 'email', value: text.slice(6) }
  return { by: 'id', value: text }
}

/** True for the value of a field that a reference means: addresses are compared without case. */
export function isMeant({ by, value }: Reference, found: unknown): boolean {
  const text = String(found)
  return by === 'email' ? text.toLowerCase() === value.toLowerCase() : text === value
}
