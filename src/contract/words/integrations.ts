import { recordWords, type Words } from './record.ts'

const attributes = {
  baseUrl: 'URL of the other system, for connection checks',
  rootAccountUuid: 'UUID of the Canvas root account, which events signed by Canvas must carry; canvas only',
  jwksUrl: 'URL of the keys that Canvas signs with (default the one that Canvas publishes); canvas only',
  jwks: 'The keys that Canvas signs with, for servers that cannot fetch them; used instead of the URL; canvas only',
  'jwks.keys': 'RSA public keys as JSON Web Keys (RFC 7517)',
  'jwks.keys.kty': 'Type of the key: RSA',
  'jwks.keys.kid': 'Id of the key, which a signature names',
  'jwks.keys.n': 'Modulus, in base64url',
  'jwks.keys.e': 'Exponent, in base64url',
  gradeToProgress: 'What a grade does to progress',
  gradeItems:
    'Items of the other gradebook by their id there, for systems that send scores without a maximum: name, maximum and weight',
  defaultGradeMaximum: 'Maximum of a score that is sent without one and is not among the items',
} satisfies Words

export const integrationPatchWords = {
  ...attributes,
  '': 'What changes of an integration',
  accessToken: 'Access token of the other system; can only be written',
  webhookSecrets:
    'The secret that the other system signs or sends events with; a second one is accepted until oldSecretEndsAt; can only be written',
  oldSecretEndsAt: 'Until when the webhook secret before is accepted; null or a time in the past ends it',
} satisfies Words

export const integrationWords = {
  ...attributes,
  '': 'The connection to another learning management system',
  lmsKind: 'Kind of the other system',
  secrets: 'What may be shown of the secrets',
  'secrets.accessToken': 'The access token; null if none is set',
  'secrets.accessToken.setAt': 'When it was set',
  'secrets.accessToken.last4': 'Its last four characters; null if it is short',
  'secrets.accessToken.endsAt': 'Until when it is accepted; always null',
  'secrets.webhook': 'The webhook secrets that are accepted, newest first',
  'secrets.webhook.setAt': 'When it was set',
  'secrets.webhook.last4': 'Its last four characters; null if it is short',
  'secrets.webhook.endsAt': 'Until when it is accepted, if another has replaced it',
  webhookPath: 'Path of this server to which the other system sends its events',
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words

export const integrationCheckWords = {
  '': 'What a connection check found',
  lmsKind: 'Kind of the other system',
  passed: 'Whether nothing failed',
  webhookPath: integrationWords.webhookPath,
  checks: 'One entry for each thing that was checked',
  'checks.name': 'What was checked',
  'checks.status': 'Result: ok, failed, or skipped because something is not set',
  'checks.detail': 'What was found',
} satisfies Words

const mapping = {
  noun: 'What is mapped: course or user',
  externalKey: 'Id of the course or user in the other system',
  reference:
    'Course: id or ext:<externalId>; user: id, ext:<externalId> or email:<address>; responses have the id',
} satisfies Words

export const mappingInputWords = {
  ...mapping,
  '': 'A mapping, always as a whole. System, noun and key identify it',
} satisfies Words

export const mappingWords = {
  ...mapping,
  '': 'What a course or user of the other system is here',
  id: 'Id of the mapping, map_…',
  lmsKind: 'Kind of the other system',
  name: 'Title of the course or e-mail address of the user, as it is now; null if it was deleted permanently',
  targetStatus: 'Whether the course or user is there, or was deleted',
  version: recordWords.version,
  createdAt: recordWords.createdAt,
  updatedAt: recordWords.updatedAt,
} satisfies Words
