/** What a page says of the form that led to it, by the word in its address: `?done=…`. */
export const notes = {
  key_made_before:
    'This form was already submitted; no second key was created. The key is in the list; its value is shown only once.',
  key_revoked: 'API key revoked. Requests that use it are now refused.',
  app_made: 'Application registered.',
  app_made_before:
    'This form was already submitted; no second application was registered. If its secret is lost, delete the application and register it again.',
  app_deleted: 'Application deleted. All access that users granted it is revoked.',
  grant_revoked: 'Access revoked. The application can no longer act as you.',
  session_ended: 'Session ended. That browser has to sign in again.',
  integration_saved: 'Integration saved.',
  secret_made_before:
    'This form was already submitted; no second secret was generated. If the secret is lost, generate another one.',
  items_saved: 'Graded items saved.',
  integration_removed: 'Integration removed.',
  mapping_saved: 'Mapping saved.',
  mapping_deleted: 'Mapping deleted.',
  delivery_replayed: 'Delivery processed again.',
  deliveries_replayed: 'Unmatched deliveries processed again, up to 100 of them.',
  endpoint_made_before:
    'This form was already submitted; no second endpoint was created. If its secret is lost, rotate it.',
  endpoint_updated: 'Endpoint updated.',
  endpoint_deleted: 'Endpoint deleted. Nothing more is sent to it.',
  endpoint_rotated_before: 'This form was already submitted. If the new secret is lost, rotate it once more.',
  endpoint_tested: 'Test event queued. Its message is the first one below.',
  message_resent: 'Message replayed: it is sent again.',
  other_sessions_ended: 'All other sessions ended.',
  password_changed: 'Password changed.',
} as const

/** The name of a note. */
export type NoteName = keyof typeof notes

/** The note that an address names, or undefined. */
export function noteIn(query: URLSearchParams): string | undefined {
  const name = query.get('done') ?? ''
  return Object.hasOwn(notes, name) ? notes[name as NoteName] : undefined
}
