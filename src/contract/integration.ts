import * as z from 'zod'
import { Instant, optional, Percent, Time, text } from './field.ts'
import { answered, field, named, objectOf, sent, shown } from './fields.ts'
import { gradeToProgressChoices, lmsKinds } from './integration-choices.ts'
import { patchOf } from './patch.ts'
import { changed } from './record-fields.ts'

export const LmsKind = named('LmsKind', 'Kind of the other learning management system', z.enum(lmsKinds))
export const GradeToProgress = named(
  'GradeToProgress',
  'What a grade does to progress: nothing, 100% once the course is passed, or the grade is the percentage',
  z.enum(gradeToProgressChoices),
)

const maximumItems = 1000

/** URL of the other system; a user, query or fragment is refused, since it would appear in links and logs. */
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

/** A secret of another system: one line, not trimmed. */
const Secret = z
  .string()
  .min(8)
  .max(4096, { abort: true })
  .refine((secret) => secret.trim() === secret && !/\p{Cc}/u.test(secret), {
    params: { code: 'invalid_secret' },
    error: 'must be one line without spaces at its ends',
  })

/** A public key as JWK (RFC 7517); members that are not needed to verify a signature are dropped. */
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

const GradeItem = z.strictObject({
  name: z.string().trim().max(255).default(''),
  maximum: z.number().positive().max(1_000_000).default(100),
  weight: optional(Percent),
})

const GradeItems = z
  .record(text(1, 255), GradeItem)
  .refine((items) => Object.keys(items).length <= maximumItems, {
    params: { code: 'too_many' },
    error: `must have at most ${maximumItems} items`,
  })

/** Writable attributes of an integration. */
const attributes = {
  baseUrl: field(
    optional(address(/^https?:$/, 'must be an http or https URL without a user name, query or fragment')),
    'URL of the other system, for connection checks',
    'URL of the other system',
  ),
  accessToken: field(Secret.nullable().optional(), 'Access token of the other system; can only be written'),
  webhookSecrets: field(
    z.array(Secret).max(2).nullable().optional(),
    'The secret that the other system signs or sends events with; a second one is accepted until oldSecretEndsAt; can only be written',
  ),
  oldSecretEndsAt: field(
    Instant.nullable().optional(),
    'Until when the webhook secret before is accepted; null or a time in the past ends it',
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
  gradeToProgress: field(GradeToProgress.default('none'), 'What a grade does to progress'),
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
const last4 = field(z.string().nullable(), 'Its last four characters; null if it is short')

/** A secret in responses: its last characters, never the whole value. */
const ShownSecret = shown(() => ({
  setAt,
  last4,
  endsAt: field(Time.nullable(), 'Until when it is accepted, if another has replaced it'),
}))
export type ShownSecret = z.output<typeof ShownSecret>

const Secrets = shown(() => ({
  accessToken: field(
    shown(() => ({
      setAt,
      last4,
      endsAt: field(Time.nullable(), 'Until when it is accepted; always null'),
    })).nullable(),
    'The access token; null if none is set',
  ),
  webhook: field(z.array(ShownSecret), 'The webhook secrets that are accepted, newest first'),
}))

const lmsKind = field(LmsKind, 'Kind of the other system')
const webhookPath = field(z.string(), 'Path of this server to which the other system sends its events')

export const Integration = named(
  'Integration',
  'The connection to another learning management system',
  shown(() => {
    const { baseUrl, accessToken: _token, webhookSecrets: _secrets, oldSecretEndsAt: _end, ...others } =
      answered(attributes)
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
    'Result: ok, failed, or skipped because something is not set',
  ),
  detail: field(z.string(), 'What was found'),
}))

/** Result of a connection check, one entry per item checked. */
export const IntegrationCheck = named(
  'IntegrationCheck',
  'What a connection check found',
  shown(() => ({
    lmsKind,
    passed: field(z.boolean(), 'Whether nothing failed'),
    webhookPath,
    checks: field(z.array(Check), 'One entry for each thing that was checked'),
  })),
)
export type IntegrationCheck = z.output<typeof IntegrationCheck>
