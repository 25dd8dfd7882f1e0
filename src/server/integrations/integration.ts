import sql, { join, raw } from 'sql-template-tag'
import { findNearest } from '../../codec/nearest.ts'
import { type GradeToProgress, type LmsKind, lmsKinds } from '../../contract/constants.ts'
import type { GradeItem } from '../../lms/event.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Database, Row } from '../database/database.ts'
import { columnOf, fieldReader } from '../database/record.ts'
import { notFoundDetail, ProblemError } from '../problem-error.ts'

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
  readonly clientId: string | null
  readonly clientSecret: StoredSecret | null
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

const jsonFields = ['clientSecret', 'refreshToken', 'webhookSecrets', 'gradeItems'] as const
const fields = [
  ...['lmsKind', 'baseUrl', 'clientId', 'tokenUrl', 'rootAccountUuid', 'jwksUrl', 'jwks', 'gradeToProgress'],
  ...['defaultGradeMaximum', 'version', 'createdAt', 'updatedAt'],
  ...jsonFields,
] as const satisfies readonly (keyof Integration)[]
const readStored = fieldReader(fields, jsonFields)
const columns = [...fields.map(columnOf), 'access_token', 'access_token_set_at', 'access_token_last4']

export const integrationColumns = raw(columns.join(', '))

/** Undefined if it is not set up, and for an unknown kind. */
export async function integrationOf(database: Database, kind: string): Promise<Integration | undefined> {
  const row = await database.one(sql`select ${integrationColumns} from integrations where lms_kind = ${kind}`)
  return row && toIntegration(row)
}

export type SingleSecret = 'accessToken' | 'clientSecret' | 'refreshToken'

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

/** Throws 503 if it cannot be decrypted. */
export function secretOf(
  integration: Integration,
  field: SingleSecret,
  sealing: Pick<Sealing, 'open'>,
): string | undefined {
  const stored = integration[field]
  return stored ? sealing.open(secretPlaceOf(integration.lmsKind, field), stored.sealed) : undefined
}

export async function storeIntegration(database: Database, integration: Integration): Promise<void> {
  const { accessToken } = integration
  const values = fields.map((field) => {
    const value = integration[field]
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  })
  const token = [accessToken?.sealed ?? null, accessToken?.setAt ?? null, accessToken?.last4 ?? null]
  await database.run(sql`
    insert into integrations (${integrationColumns}) values (${join([...values, ...token])})
    on conflict (lms_kind) do update set ${raw(columns.map((name) => `${name} = excluded.${name}`).join(', '))}`)
}

interface TokenColumns extends Row {
  readonly access_token: string | null
  readonly access_token_set_at: string | null
  readonly access_token_last4: string | null
}

export function toIntegration(row: Row): Integration {
  const { access_token: sealed, access_token_set_at: setAt, access_token_last4: last4 } = row as TokenColumns
  const stored = readStored(row) as unknown as Omit<Integration, 'accessToken'>
  const accessToken =
    sealed === null ? null : { sealed, setAt: setAt ?? stored.updatedAt, last4, endsAt: null }
  return { ...stored, accessToken }
}

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

export function webhookPathOf(kind: LmsKind): `/${string}` {
  return `/webhooks/${kind}/grades`
}
