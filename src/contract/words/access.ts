import type { Words } from './record.ts'

export const keyInputWords = {
  '': 'The attributes of a new API key',
  name: 'What the key is for, such as nightly export',
  userId: 'Owner: id, ext:<externalId> or email:<address>; the key acts as this user (default you)',
  scopes: 'What the key can do, within the role of its owner',
  expiresAt: 'When the key expires, null for never (default one year after it is created)',
} satisfies Words

export const keyWords = {
  '': 'An API key, without the key itself',
  id: 'Id of the key, key_…',
  userId: 'Id of the owner: the key acts as this user',
  userEmail: 'E-mail address of the owner as it is now',
  name: keyInputWords.name,
  prefix: 'First characters of the key',
  last4: 'Last characters of the key',
  scopes: keyInputWords.scopes,
  expiresAt: 'When the key expires; null for never',
  createdAt: 'When the key was created',
  lastUsedAt: 'When the key was last used, to the minute; null if never',
  revokedAt: 'When the key was revoked; null if it was not',
} satisfies Words

export const newKeyWords = {
  ...keyWords,
  '': 'A new API key, with the key itself',
  key: 'The API key. Shown only once: null in a replayed response',
} satisfies Words

export const leaseInputWords = {
  '': 'Who takes the apply lease',
  id: 'Random id that the client chooses for the lease; the same id renews it',
  holder: 'What applies, such as the host and the process, for others who wait',
} satisfies Words

export const leaseWords = {
  ...leaseInputWords,
  '': 'The apply lease',
  userId: 'Id of the user who applies',
  userEmail: 'E-mail address of that user as it is now',
  takenAt: 'When the lease was taken; another value in a later response means that it was lost in between',
  expiresAt: 'When the lease ends unless it is renewed',
} satisfies Words

export const appInputWords = {
  '': 'The attributes of a new OAuth application',
  name: 'Name of the application, shown to users who are asked for consent',
  redirectUris: 'Where users are redirected; must match exactly, except for the port on 127.0.0.1 and [::1]',
  public: 'Whether it is a public client, such as a desktop or mobile app, which gets no secret',
} satisfies Words

export const appWords = {
  ...appInputWords,
  '': 'An OAuth application, without its secret',
  clientId: 'Client id of the application, its client_id in OAuth 2.0',
  createdAt: 'When the application was registered',
} satisfies Words

export const newAppWords = {
  ...appWords,
  '': 'A new OAuth application, with its secret',
  clientSecret:
    'The client secret. Shown only once: null for a public application and in a replayed response',
} satisfies Words

export const grantWords = {
  '': 'The access that a user has given to an OAuth application',
  id: 'Id of the grant',
  userId: 'Id of the user who gave access',
  clientId: 'Client id of the application',
  clientName: 'Name of the application',
  scopes: 'What the application can do on behalf of the user',
  createdAt: 'When access was given',
  lastUsedAt: 'When the access was last used; null if never',
  expiresAt: 'When the access ends unless it is used',
} satisfies Words
