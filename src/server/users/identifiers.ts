import sql from 'sql-template-tag'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { User } from '../../contract/users.ts'
import { keyHintOf } from '../../lms/kinds.ts'
import type { Database, Row } from '../database/database.ts'

export interface Identifiers {
  readonly id: string
  readonly emails: readonly string[]
  readonly externalIds: readonly string[]
  readonly usernames: readonly string[]
  readonly names: readonly string[]
  readonly keys: readonly { readonly kind: string; readonly key: string }[]
}

const maxChanges = 1000

/** Earlier ones come from the audit log, unless it was erased. */
export async function identifiersOf(database: Database, user: User): Promise<Identifiers> {
  const { id } = user
  const mapped = await database.all<Row & { lms_kind: string; external_key: string }>(sql`
    select lms_kind, external_key from integration_mappings where target_id = ${id} limit ${maxChanges}`)
  const accounts = await database.all<EntryRow>(sql`
    select details from audit_entries where subject_id = ${id} order by id desc limit ${maxChanges}`)
  const mappings = await database.all<EntryRow>(sql`
    select details from audit_entries
    where about_id = ${id} and action in ('mapping.updated', 'mapping.deleted') limit ${maxChanges}`)
  const records = [user, ...accounts.flatMap(recordsIn)]
  const valuesOf = (...fields: string[]) =>
    distinct(records.flatMap((record) => fields.map((field) => valueIn(record, field))))
  const formerKeys = mappings.flatMap(recordsIn).map((record) => ({
    kind: valueIn(record, 'lmsKind') ?? '',
    key: valueIn(record, 'externalKey') ?? '',
  }))
  return {
    id,
    emails: valuesOf('email'),
    externalIds: valuesOf('externalId'),
    usernames: valuesOf('username'),
    names: valuesOf('firstName', 'lastName', 'displayName'),
    keys: [
      ...mapped.map(({ lms_kind: kind, external_key: key }) => ({ kind, key })),
      ...formerKeys.filter(({ key }) => key !== ''),
    ],
  }
}

interface EntryRow extends Row {
  readonly details: string | null
}

function recordsIn({ details }: EntryRow): object[] {
  const stored = details === null ? null : parseJsonOrNull(details)
  return Array.isArray(stored) ? stored.slice(3, 5).filter(isJsonObject) : []
}

function valueIn(record: object, field: string): string | null {
  const { profile, [field]: own } = record as Readonly<Record<string, unknown>>
  const value = own ?? (isJsonObject(profile) ? profile[field] : null)
  return typeof value === 'string' && value !== '' ? value : null
}

function distinct(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null))]
}

export function hintsOf({ id, emails, externalIds, keys }: Identifiers): string[] {
  return [
    ...new Set([
      id,
      ...emails.flatMap((email) => [`email:${email.toLowerCase()}`, email]),
      ...externalIds.flatMap((externalId) => [`ext:${externalId}`, externalId]),
      ...keys.map(({ kind, key }) => keyHintOf(kind, key)),
    ]),
  ]
}
