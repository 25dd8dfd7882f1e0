import * as z from 'zod'
import { Instant, optional, Percent, Time, text } from './field.ts'
import { gradeToProgressChoices, lmsKinds } from './integration-choices.ts'
import { patchOf } from './patch.ts'

export const LmsKind = z.enum(lmsKinds)
export const GradeToProgress = z.enum(gradeToProgressChoices)

const maximumItems = 1000

/** An address of the other system: no user, query or fragment, which would be in every link and log. */
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

/** A secret of another system, as it stands: one line. */
const Secret = z
  .string()
  .min(8)
  .max(4096, { abort: true })
  .refine((secret) => secret.trim() === secret && !/\p{Cc}/u.test(secret), {
    params: { code: 'invalid_secret' },
    error: 'must be one line without spaces at its ends',
  })

/** A public key as JWK (RFC 7517); members that are not needed to verify a signature are dropped. */
const PublicKey = z.object({
  kty: z.literal('RSA'),
  kid: z.string().min(1).max(255),
  n: z
    .string()
    .min(342)
    .max(1024)
    .regex(/^[\w-]+$/),
  e: z
    .string()
    .min(1)
    .max(12)
    .regex(/^[\w-]+$/),
})

const Jwks = z.object({ keys: z.array(PublicKey).min(1).max(20) })

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

export const IntegrationInput = z.strictObject({
  baseUrl: optional(
    address(/^https?:$/, 'must be an http or https URL without a user name, query or fragment'),
  ),
  accessToken: Secret.nullable().optional(),
  webhookSecrets: z.array(Secret).max(2).nullable().optional(),
  oldSecretEndsAt: Instant.nullable().optional(),
  rootAccountUuid: optional(text(1, 255)),
  jwksUrl: optional(address(/^https:$/, 'must be an https URL without a user name, query or fragment')),
  jwks: optional(Jwks),
  gradeToProgress: GradeToProgress.default('none'),
  gradeItems: GradeItems.default({}),
  defaultGradeMaximum: z.number().positive().max(1_000_000).default(100),
})
export type IntegrationInput = z.output<typeof IntegrationInput>

export const IntegrationPatch = patchOf(IntegrationInput)

/** What is shown of a secret. */
const ShownSecret = z.object({
  setAt: Time,
  last4: z.string().nullable(),
  endsAt: Time.nullable(),
})
export type ShownSecret = z.output<typeof ShownSecret>

export const Integration = z.object({
  lmsKind: LmsKind,
  baseUrl: z.string().nullable(),
  secrets: z.object({ accessToken: ShownSecret.nullable(), webhook: z.array(ShownSecret) }),
  rootAccountUuid: z.string().nullable(),
  jwksUrl: z.string().nullable(),
  jwks: Jwks.nullable(),
  gradeToProgress: GradeToProgress,
  gradeItems: z.record(z.string(), GradeItem),
  defaultGradeMaximum: z.number(),
  webhookPath: z.string(),
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
})
export type Integration = z.output<typeof Integration>

/** What a connection check found, one entry for each thing that was looked at. */
export const IntegrationCheck = z.object({
  lmsKind: LmsKind,
  passed: z.boolean(),
  webhookPath: z.string(),
  checks: z.array(
    z.object({
      name: z.string(),
      status: z.enum(['ok', 'failed', 'skipped']),
      detail: z.string(),
    }),
  ),
})
export type IntegrationCheck = z.output<typeof IntegrationCheck>
