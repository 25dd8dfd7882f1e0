import sql from 'sql-template-tag'
import type { GradeToProgress, LmsKind } from '../../contract/integration-choices.ts'
import type { Database, Row } from '../database/database.ts'
import type { Sealing } from '../sealing/sealing.ts'

/** An item of another system's gradebook, for systems that send scores without saying of how many points. */
export interface GradeItem {
  readonly name: string
  readonly maximum: number
  readonly weight: number | null
}

/** A secret as it is stored: sealed, with what may be shown of it. */
export interface StoredSecret {
  readonly sealed: string
  /** ISO 8601 in UTC. */
  readonly setAt: string
  /** The end of the secret, which is null where that is long enough for it to tell nothing. */
  readonly last4: string | null
  /** Until when it is accepted, once another took its place; null for the one that counts. ISO 8601 in UTC. */
  readonly endsAt: string | null
}

/** How one learning management system is connected, with its secrets sealed. */
export interface Integration {
  readonly lmsKind: LmsKind
  /** Its address, without a final slash. */
  readonly baseUrl: string | null
  readonly accessToken: StoredSecret | null
  /** The newest first; two at most. */
  readonly webhookSecrets: readonly StoredSecret[]
  readonly rootAccountUuid: string | null
  /** Where the keys are that it signs with; those in `jwks` take their place. */
  readonly jwksUrl: string | null
  /** The text of a JSON Web Key Set (RFC 7517 §5). */
  readonly jwks: string | null
  readonly gradeToProgress: GradeToProgress
  readonly gradeItems: Readonly<Record<string, GradeItem>>
  /** Points of an item that `gradeItems` does not name, where the system sends none. */
  readonly defaultGradeMaximum: number
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** An integration as its row holds it. */
export interface IntegrationRow extends Row {
  readonly lms_kind: string
  readonly base_url: string | null
  readonly access_token: string | null
  readonly access_token_set_at: string | null
  readonly access_token_last4: string | null
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

/** The columns of an integration's row. */
export const integrationColumns = sql`lms_kind, base_url, access_token, access_token_set_at, access_token_last4, webhook_secrets,
  root_account_uuid, jwks_url, jwks, grade_to_progress, grade_items, default_grade_maximum, version, created_at, updated_at`

/** The integration of a kind; undefined where it is not set up, and for a kind that does not exist. */
export async function integrationOf(database: Database, kind: string): Promise<Integration | undefined> {
  const row = await database.one<IntegrationRow>(
    sql`select ${integrationColumns} from integrations where lms_kind = ${kind}`,
  )
  return row && toIntegration(row)
}

/** All integrations, in the order of their kinds: as many as there are kinds at most. */
export async function allIntegrations(database: Database): Promise<Integration[]> {
  const rows = await database.all<IntegrationRow>(
    sql`select ${integrationColumns} from integrations order by lms_kind`,
  )
  return rows.map(toIntegration)
}

/** Where a secret of an integration is sealed for: it opens nowhere else. */
export function placeOf(kind: string, field: 'accessToken' | 'webhookSecret'): string {
  return `integration:${kind}:${field}`
}

/** The webhook secrets that count at a time (ISO 8601 in UTC), the newest first. Throws 503 where they cannot be opened. */
export function webhookSecretsAt(
  { lmsKind, webhookSecrets }: Integration,
  sealing: Pick<Sealing, 'open'>,
  now: string,
): string[] {
  const place = placeOf(lmsKind, 'webhookSecret')
  return webhookSecrets
    .filter(({ endsAt }) => endsAt === null || endsAt > now)
    .map(({ sealed }) => sealing.open(place, sealed))
}

/** The access token of the other system; undefined where there is none. Throws 503 where it cannot be opened. */
export function accessTokenOf({ lmsKind, accessToken }: Integration, sealing: Sealing): string | undefined {
  return accessToken ? sealing.open(placeOf(lmsKind, 'accessToken'), accessToken.sealed) : undefined
}

/** Stores an integration as a whole, in place of the one of its kind. */
export async function keepIntegration(database: Database, integration: Integration): Promise<void> {
  const { lmsKind, baseUrl, accessToken, webhookSecrets, rootAccountUuid, jwksUrl, jwks } = integration
  const { gradeToProgress, gradeItems, defaultGradeMaximum, version, createdAt, updatedAt } = integration
  await database.run(sql`
    insert into integrations (${integrationColumns})
    values (${lmsKind}, ${baseUrl}, ${accessToken?.sealed ?? null}, ${accessToken?.setAt ?? null},
            ${accessToken?.last4 ?? null}, ${JSON.stringify(webhookSecrets)}, ${rootAccountUuid}, ${jwksUrl}, ${jwks},
            ${gradeToProgress}, ${JSON.stringify(gradeItems)}, ${defaultGradeMaximum}, ${version}, ${createdAt},
            ${updatedAt})
    on conflict (lms_kind) do update set
      base_url = excluded.base_url, access_token = excluded.access_token,
      access_token_set_at = excluded.access_token_set_at, access_token_last4 = excluded.access_token_last4,
      webhook_secrets = excluded.webhook_secrets, root_account_uuid = excluded.root_account_uuid,
      jwks_url = excluded.jwks_url, jwks = excluded.jwks, grade_to_progress = excluded.grade_to_progress,
      grade_items = excluded.grade_items, default_grade_maximum = excluded.default_grade_maximum,
      version = excluded.version, updated_at = excluded.updated_at`)
}

/** An integration, from its row. */
export function toIntegration(row: IntegrationRow): Integration {
  return {
    // What is stored went through the schema.
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
