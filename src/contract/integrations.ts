import * as z from 'zod'
import { batchOf } from './batch.ts'
import { gradeToProgressChoices, mappedNouns } from './constants.ts'
import { answered, field, named, objectOf, patchOf, sent, shown } from './fields.ts'
import { ForeignRecords, ForeignWriteResult, ForeignWrites, LmsKind, RecordPart } from './foreign-records.ts'
import { exactly, filtering, listOf, ofCourse, ofUser, oneOf, paging, periodAndUpdates } from './lists.ts'
import { operationsOf } from './operation.ts'
import { changed, textOrNull, timeOrNull } from './record-fields.ts'
import { Instant, optional, Percent, Reference, Time, text } from './values.ts'

export const MappedNoun = named('MappedNoun', 'What is mapped: a course or a user', z.enum(mappedNouns))

const mappingAttributes = {
  noun: field(MappedNoun, 'What is mapped: course or user'),
  externalKey: field(z.string().min(1).max(255), 'Id of the course or user in the other system'),
  reference: field(
    Reference,
    'Course: id or ext:<externalId>; user: id, ext:<externalId> or email:<address>; responses have the id',
  ),
}

/** Always sent as a whole; system, noun and key identify it. */
export const MappingInput = named(
  'MappingInput',
  'A mapping, always as a whole. System, noun and key identify it',
  sent(mappingAttributes),
)
export type MappingInput = z.output<typeof MappingInput>

export const Mapping = named(
  'Mapping',
  'What a course or user of the other system is here',
  shown(() => ({
    id: field(z.string(), 'Id of the mapping, map_…'),
    lmsKind: field(LmsKind, 'Kind of the other system'),
    ...answered(mappingAttributes),
    name: textOrNull(
      'Title of the course or e-mail address of the user, as it is now; null if it was deleted permanently',
    ),
    targetStatus: field(z.enum(['active', 'deleted']), 'Whether the course or user is there, or was deleted'),
    ...changed,
  })),
)
export type Mapping = z.output<typeof Mapping>

export const GradeToProgress = named(
  'GradeToProgress',
  'Effect of a grade on progress: none, 100% once the course is passed, or the grade as the percentage',
  z.enum(gradeToProgressChoices),
)

const maxGradeItems = 1000

/** A user, query or fragment is refused, since it would appear in links and logs. */
function address(protocols: RegExp, error: string) {
  return z
    .string()
    .max(2048, { abort: true })
    .meta({ format: 'uri' })
    .refine((text) => isAddress(text, protocols), { params: { code: 'invalid_url' }, error })
    .overwrite((text) => text.replace(/\/+$/, ''))
}

function isAddress(text: string, protocols: RegExp): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return protocols.test(protocol) && `${username}${password}${search}${hash}` === '' && !/[?#\s]/.test(text)
}

/** One line, not trimmed. */
const Secret = z
  .string()
  .min(8)
  .max(4096, { abort: true })
  .refine((secret) => secret.trim() === secret && !/\p{Cc}/u.test(secret), {
    params: { code: 'invalid_secret' },
    error: 'must be one line without spaces at its ends',
  })

/** A JWK (RFC 7517); members that are not needed to verify a signature are dropped. */
const PublicKey = objectOf({
  kty: field(z.literal('RSA'), 'Type of the key: RSA'),
  kid: field(z.string().min(1).max(255), 'Id of the key, which a signature names'),
  n: field(
    z
      .string()
      .min(342)
      .max(1024)
      .regex(/^[\w-]+$/),
    'Modulus, in base64url',
  ),
  e: field(
    z
      .string()
      .min(1)
      .max(12)
      .regex(/^[\w-]+$/),
    'Exponent, in base64url',
  ),
})

const Jwks = objectOf({
  keys: field(z.array(PublicKey).min(1).max(20), 'RSA public keys as JSON Web Keys (RFC 7517)'),
})

export const GradeItem = z.strictObject({
  name: z.string().trim().max(255).default(''),
  maximum: z.number().positive().max(1_000_000).default(100),
  weight: optional(Percent),
})

const GradeItems = z
  .record(text(1, 255), GradeItem)
  .refine((items) => Object.keys(items).length <= maxGradeItems, {
    params: { code: 'too_many' },
    error: `must have at most ${maxGradeItems} items`,
  })

const attributes = {
  baseUrl: field(
    optional(address(/^https?:$/, 'must be an http or https URL without a user name, query or fragment')),
    'URL of the other system, for connection checks and for reading its records',
    'URL of the other system',
  ),
  accessToken: field(Secret.nullable().optional(), 'Access token of the other system; can only be written'),
  clientId: field(
    optional(text(1, 255)),
    'Client id of the OAuth application that is registered there; classroom and oneroster only',
    'Client id of the OAuth application that is registered there',
  ),
  clientSecret: field(
    Secret.nullable().optional(),
    'Client secret of the OAuth application; classroom and oneroster only; can only be written',
  ),
  refreshToken: field(
    Secret.nullable().optional(),
    'Refresh token of the user who signed in there; classroom only; can only be written',
  ),
  tokenUrl: field(
    optional(address(/^https?:$/, 'must be an http or https URL without a user name, query or fragment')),
    'URL where access tokens are requested (default that of the system); classroom and oneroster only',
    'URL where access tokens are requested (default that of the system)',
  ),
  webhookSecrets: field(
    z.array(Secret).max(2).nullable().optional(),
    'The secret that the other system signs or sends events with; a second one is accepted until oldSecretEndsAt; can only be written',
  ),
  oldSecretEndsAt: field(
    Instant.nullable().optional(),
    'When the previous webhook secret stops being accepted; null or a time in the past ends it',
  ),
  rootAccountUuid: field(
    optional(text(1, 255)),
    'UUID of the Canvas root account, which events signed by Canvas must carry; canvas only',
    'UUID of the Canvas root account, which its signed events must carry',
  ),
  jwksUrl: field(
    optional(address(/^https:$/, 'must be an https URL without a user name, query or fragment')),
    'URL of the keys that Canvas signs with (default the one that Canvas publishes); canvas only',
  ),
  jwks: field(
    optional(Jwks),
    'The keys that Canvas signs with, for servers that cannot fetch them; used instead of the URL; canvas only',
  ),
  gradeToProgress: field(GradeToProgress.default('none'), 'Effect of a grade on progress'),
  gradeItems: field(
    GradeItems.default({}),
    'Items of the other gradebook by their id there, for systems that send scores without a maximum: name, maximum and weight',
  ),
  defaultGradeMaximum: field(
    z.number().positive().max(1_000_000).default(100),
    'Maximum of a score that is sent without one and is not among the items',
    'Maximum of scores that come without one',
  ),
}

export const IntegrationInput = sent(attributes)
export type IntegrationInput = z.output<typeof IntegrationInput>

export const IntegrationPatch = named(
  'IntegrationPatch',
  'What changes of an integration',
  patchOf(IntegrationInput),
)

const setAt = field(Time, 'When it was set')
const last4 = textOrNull('Its last four characters; null if it is short')

/** Shows only the last characters. */
const ShownSecret = shown(() => ({
  setAt,
  last4,
  endsAt: timeOrNull('Until when it is accepted, if another has replaced it'),
}))
export type ShownSecret = z.output<typeof ShownSecret>

const ShownToken = shown(() => ({
  setAt,
  last4,
  endsAt: timeOrNull('Until when it is accepted; always null'),
}))

const Secrets = shown(() => ({
  accessToken: field(ShownToken.nullable(), 'The access token; null if none is set'),
  clientSecret: field(ShownToken.nullable(), 'The client secret; null if none is set'),
  refreshToken: field(ShownToken.nullable(), 'The refresh token; null if no user has signed in'),
  webhook: field(z.array(ShownSecret), 'The webhook secrets that are accepted, newest first'),
}))

const lmsKind = field(LmsKind, 'Kind of the other system')
const webhookPath = field(z.string(), 'Path of this server to which the other system sends its events')

export const Integration = named(
  'Integration',
  'The connection to another learning management system',
  shown(() => {
    const {
      baseUrl,
      accessToken: _token,
      clientSecret: _clientSecret,
      refreshToken: _refreshToken,
      webhookSecrets: _secrets,
      oldSecretEndsAt: _end,
      ...others
    } = answered(attributes)
    return {
      lmsKind,
      baseUrl,
      secrets: field(Secrets, 'What may be shown of the secrets'),
      ...others,
      jwks: field(Jwks.nullable(), attributes.jwks.says),
      webhookPath,
      ...changed,
    }
  }),
)
export type Integration = z.output<typeof Integration>

const Check = shown(() => ({
  name: field(z.string(), 'What was checked'),
  status: field(
    z.enum(['ok', 'failed', 'skipped']),
    'Result: ok, failed, or skipped because something is not set or not permitted',
  ),
  detail: field(z.string(), 'What was found'),
}))

export const IntegrationCheck = named(
  'IntegrationCheck',
  'What a connection check found',
  shown(() => ({
    lmsKind,
    passed: field(z.boolean(), 'Whether nothing failed, and at least one setting could be checked'),
    webhookPath,
    checks: field(z.array(Check), 'One entry for each thing that was checked'),
  })),
)
export type IntegrationCheck = z.output<typeof IntegrationCheck>

export const integrations = operationsOf('integrations', {
  list: {
    at: 'GET /v1/integrations',
    summary: 'List integrations',
    scope: 'admin',
    query: z.strictObject({ ...periodAndUpdates('Created', 'createdAt'), ...paging }),
    ...listOf(Integration, 'integrations'),
    identifier: 'lmsKind',
  },
  get: {
    at: 'GET /v1/integrations/{lmsKind}',
    summary: 'Show an integration',
    scope: 'admin',
    response: Integration,
    identifier: 'lmsKind',
  },
  set: {
    at: 'PUT /v1/integrations/{lmsKind}',
    summary: 'Create or update an integration',
    scope: 'admin',
    body: IntegrationPatch,
    merge: true,
    response: Integration,
    identifier: 'lmsKind',
  },
  remove: {
    at: 'DELETE /v1/integrations/{lmsKind}',
    summary: 'Delete an integration',
    scope: 'admin',
    response: null,
  },
  test: {
    at: 'POST /v1/integrations/{lmsKind}/test',
    summary: 'Check the connection to the other system',
    scope: 'admin',
    response: IntegrationCheck,
    status: 200,
    report: true,
  },
  records: {
    at: 'GET /v1/integrations/{lmsKind}/records',
    summary: 'List records of the other system',
    scope: 'admin',
    query: z.strictObject({
      part: RecordPart.meta({ description: 'Kind of the records' }),
      of: z
        .string()
        .min(1)
        .max(255)
        // It becomes a part of a path of the other system.
        .regex(/[^.]/)
        .optional()
        .meta({
          description: 'Id in the other system of the course or group whose records are wanted',
        }),
      cursor: z.string().max(4096).optional().meta({ description: 'nextCursor of the previous page' }),
    }),
    response: ForeignRecords,
    report: true,
  },
  write: {
    at: 'POST /v1/integrations/{lmsKind}/records',
    summary: 'Send up to 20 records to the other system',
    scope: 'admin',
    body: ForeignWrites,
    response: ForeignWriteResult,
    status: 200,
    report: true,
  },
  mappings: {
    at: 'GET /v1/integrations/{lmsKind}/mappings',
    summary: 'List mappings of courses and users',
    scope: 'admin',
    query: z.strictObject({
      noun: oneOf('noun', MappedNoun, mappedNouns),
      external_key: exactly('key in the other system', 'externalKey'),
      course_id: filtering(ofCourse, { by: 'reference', field: 'reference', to: 'courseId' }),
      user_id: filtering(ofUser, { by: 'reference', field: 'reference', to: 'userId' }),
      ...periodAndUpdates('Created', 'createdAt'),
      ...paging,
    }),
    ...listOf(Mapping, 'mappings'),
  },
  mapping: {
    at: 'GET /v1/integrations/{lmsKind}/mappings/{mappingId}',
    summary: 'Show a mapping',
    scope: 'admin',
    response: Mapping,
  },
  map: {
    at: 'PUT /v1/integrations/{lmsKind}/mappings',
    summary: 'Map a course or user of the other system',
    scope: 'admin',
    body: MappingInput,
    response: Mapping,
  },
  mapBatch: {
    at: 'POST /v1/integrations/{lmsKind}/mappings/batch',
    summary: 'Record up to 1,000 mappings',
    scope: 'admin',
    ...batchOf(MappingInput, 'update', 'MappingBatch'),
  },
  unmap: {
    at: 'DELETE /v1/integrations/{lmsKind}/mappings/{mappingId}',
    summary: 'Delete a mapping',
    scope: 'admin',
    response: null,
  },
})
