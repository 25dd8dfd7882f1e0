/** What a page says of the form that led to it, by the word in its address: `?done=…`. */
export const notes = {
  key_made_before:
    'That form had been sent before, so no second key was made. The key it made is in the list; its text is shown only once.',
  key_revoked: 'The key is revoked: whoever still uses it is refused from now on.',
  app_made: 'The application is registered.',
  app_made_before:
    'That form had been sent before, so no second application was registered. If its secret is lost, delete it and register it again.',
  app_deleted: 'The application is deleted, and everything it was allowed with it.',
  grant_revoked: 'The application can act as you no longer.',
  password_changed: 'Your password is changed.',
} as const

/** The name of a note. */
export type NoteName = keyof typeof notes

/** The note that an address names, or undefined. */
export function noteIn(query: URLSearchParams): string | undefined {
  const name = query.get('done') ?? ''
  return Object.hasOwn(notes, name) ? notes[name as NoteName] : undefined
}
