import sql from 'sql-template-tag'
import { findNearest } from '../../codec/nearest.ts'
import { type GradeToProgress, type LmsKind, lmsKinds } from '../../contract/constants.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Database, Row } from '../database/database.ts'
import { notFoundDetail, ProblemError } from '../problem-error.ts'

/** For systems that send scores without a maximum. */
export interface GradeItem {
  readonly name: string
  readonly maximum: number
  readonly weight: number | null
}

/** Encrypted, with the parts that may be shown. */
export interface StoredSecret {
  readonly sealed: string
  /** ISO 8601 in UTC. */
  readonly setAt: string
  /** Null if the secret is too short to reveal them. */
  readonly last4: string | null
  /** End of the validity of a replaced secret; null for the current one. ISO 8601 in UTC. */
  readonly endsAt: string | null
}

export interface Integration {
  readonly lmsKind: LmsKind
  /** Without a trailing slash. */
  readonly baseUrl: string | null
  readonly accessToken: StoredSecret | null
  /** Of the OAuth application that is registered there. */
  readonly clientId: string | null
  readonly clientSecret: StoredSecret | null
  /** Of the user who signed in there. */
  readonly refreshToken: StoredSecret | null
  /** Null for that of the system. */
  readonly tokenUrl: string | null
  /** Newest first; at most two. */
  readonly webhookSecrets: readonly StoredSecret[]
  readonly rootAccountUuid: string | null
  /** `jwks` overrides it. */
  readonly jwksUrl: string | null
  /** A JSON Web Key Set (RFC 7517 §5) as text. */
  readonly jwks: string | null
  readonly gradeToProgress: GradeToProgress
  readonly gradeItems: Readonly<Record<string, GradeItem>>
  /** For an item without one in the event and in `gradeItems`. */
  readonly defaultGradeMaximum: number
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
}

export interface IntegrationRow extends Row {
  readonly lms_kind: string
  readonly base_url: string | null
  readonly access_token: string | null
  readonly access_token_set_at: string | null
  readonly access_token_last4: string | null
  readonly client_id: string | null
  readonly client_secret: string | null
  readonly refresh_token: string | null
  readonly token_url: string | null
  readonly webhook_secrets: string
  readonly root_account_uuid: string | null
  readonly jwks_url: string | null
  readonly jwks: string | null
  readonly grade_to_progress: string
  readonly grade_items: string
  readonly default_grade_maximum: number
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

export const integrationColumns = sql`lms_kind, base_url, access_token, access_token_set_at, access_token_last4, client_id,
  client_secret, refresh_token, token_url, webhook_secrets, root_account_uuid, jwks_url, jwks, grade_to_progress, grade_items, default_grade_maximum, version, created_at, updated_at`

/** Undefined if it is not set up, and for an unknown kind. */
export async function integrationOf(database: Database, kind: string): Promise<Integration | undefined> {
  const row = await database.one<IntegrationRow>(
    sql`select ${integrationColumns} from integrations where lms_kind = ${kind}`,
  )
  return row && toIntegration(row)
}

/** Replaced at once. */
export const singleSecrets = ['accessToken', 'clientSecret', 'refreshToken'] as const
export type SingleSecret = (typeof singleSecrets)[number]

export function secretPlaceOf(kind: string, field: SingleSecret | 'webhookSecret'): string {
  return `integration:${kind}:${field}`
}

/**
 * Returns the webhook secrets that are valid at a time (ISO 8601 in UTC), newest first. Throws 503 if they
 * cannot be decrypted.
 */
export function webhookSecretsAt(
  { lmsKind, webhookSecrets }: Integration,
  sealing: Pick<Sealing, 'open'>,
  now: string,
): string[] {
  const place = secretPlaceOf(lmsKind, 'webhookSecret')
  return webhookSecrets
    .filter(({ endsAt }) => endsAt === null || endsAt > now)
    .map(({ sealed }) => sealing.open(place, sealed))
}

/** Undefined without one. Throws 503 if it cannot be decrypted. */
export function secretOf(
  integration: Integration,
  field: SingleSecret,
  sealing: Pick<Sealing, 'open'>,
): string | undefined {
  const stored = integration[field]
  return stored ? sealing.open(secretPlaceOf(integration.lmsKind, field), stored.sealed) : undefined
}

/** Undefined without one. Throws 503 if it cannot be decrypted. */
export function accessTokenOf(integration: Integration, sealing: Sealing): string | undefined {
  return secretOf(integration, 'accessToken', sealing)
}

export async function storeIntegration(database: Database, integration: Integration): Promise<void> {
  const { lmsKind, baseUrl, accessToken, clientId, clientSecret, refreshToken, tokenUrl } = integration
  const { webhookSecrets, rootAccountUuid, jwksUrl, jwks } = integration
  const { gradeToProgress, gradeItems, defaultGradeMaximum, version, createdAt, updatedAt } = integration
  await database.run(sql`
    insert into integrations (${integrationColumns})
    values (${lmsKind}, ${baseUrl}, ${accessToken?.sealed ?? null}, ${accessToken?.setAt ?? null},
            ${accessToken?.last4 ?? null}, ${clientId}, ${secretText(clientSecret)}, ${secretText(refreshToken)},
            ${tokenUrl}, ${JSON.stringify(webhookSecrets)}, ${rootAccountUuid}, ${jwksUrl}, ${jwks},
            ${gradeToProgress}, ${JSON.stringify(gradeItems)}, ${defaultGradeMaximum}, ${version}, ${createdAt},
            ${updatedAt})
    on conflict (lms_kind) do update set
      base_url = excluded.base_url, access_token = excluded.access_token,
      access_token_set_at = excluded.access_token_set_at, access_token_last4 = excluded.access_token_last4,
      client_id = excluded.client_id, client_secret = excluded.client_secret,
      refresh_token = excluded.refresh_token, token_url = excluded.token_url,
      webhook_secrets = excluded.webhook_secrets, root_account_uuid = excluded.root_account_uuid,
      jwks_url = excluded.jwks_url, jwks = excluded.jwks, grade_to_progress = excluded.grade_to_progress,
      grade_items = excluded.grade_items, default_grade_maximum = excluded.default_grade_maximum,
      version = excluded.version, updated_at = excluded.updated_at`)
}

function secretText(secret: StoredSecret | null): string | null {
  return secret && JSON.stringify(secret)
}

function secretIn(text: string | null): StoredSecret | null {
  return text === null ? null : (JSON.parse(text) as StoredSecret)
}

export function toIntegration(row: IntegrationRow): Integration {
  return {
    // The schema validated the value before it was stored.
    lmsKind: row.lms_kind as LmsKind,
    baseUrl: row.base_url,
    accessToken:
      row.access_token === null
        ? null
        : {
            sealed: row.access_token,
            setAt: row.access_token_set_at ?? row.updated_at,
            last4: row.access_token_last4,
            endsAt: null,
          },
    clientId: row.client_id,
    clientSecret: secretIn(row.client_secret),
    refreshToken: secretIn(row.refresh_token),
    tokenUrl: row.token_url,
    webhookSecrets: JSON.parse(row.webhook_secrets) as StoredSecret[],
    rootAccountUuid: row.root_account_uuid,
    jwksUrl: row.jwks_url,
    jwks: row.jwks,
    gradeToProgress: row.grade_to_progress as GradeToProgress,
    gradeItems: JSON.parse(row.grade_items) as Integration['gradeItems'],
    defaultGradeMaximum: row.default_grade_maximum,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Throws 404 that lists the kinds. */
export function requireKind(kind: string): LmsKind {
  const known = lmsKinds.find((each) => each === kind)
  if (known) return known
  const others = lmsKinds.slice(0, -1).join(', ')
  const nearest = findNearest(kind, lmsKinds)
  throw new ProblemError(
    'not_found',
    `${notFoundDetail('LMS kind', kind)} It must be ${others} or ${lmsKinds.at(-1)}.${nearest.length > 0 ? ` Did you mean ${nearest.join(' or ')}?` : ''}`,
  )
}

/** A system of this kind sends its events to it. */
export function webhookPathOf(kind: LmsKind): `/${string}` {
  return `/webhooks/${kind}/grades`
}
