import sql from 'sql-template-tag'
import { ownClientId } from '../../../contract/oauth.ts'
import { type Database, searched } from '../database.ts'
import type { IdPrefix } from '../id.ts'
import { userSearchKey } from '../search.ts'
import { courseTables } from './courses.ts'
import { eventTables } from './events.ts'
import { groupTables } from './groups.ts'
import { integrationTables } from './integrations.ts'
import { learningTables } from './learning.ts'
import { oauthTables } from './oauth.ts'
import { type Table, tableStatements } from './table.ts'
import { userTables } from './users.ts'

/**
 * All tables, each after the tables it refers to. Times are ISO 8601 text in UTC, which sorts as text; nested
 * attributes are JSON. Each sort of a list has an index, which covers filters of few values, so that skipped rows are not
 * fetched.
 */
export const tables: readonly Table[] = [
  ...userTables,
  ...oauthTables,
  ...courseTables,
  ...learningTables,
  ...groupTables,
  ...integrationTables,
  ...eventTables,
]

export interface SchemaContext {
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly newSecret: () => string
}

const firstUserEmail = 'admin@academy.local'
/** A client on the user's machine may use any free loopback port (RFC 8252 §7.3). */
const ownRedirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback']

/**
 * Creates an academy in an empty database. Its first user is an admin: a local academy acts as this user without a
 * credential.
 */
export async function createAcademy(
  database: Database,
  { now, newId, newSecret }: SchemaContext,
): Promise<void> {
  const { dialect } = database
  const statements = [
    ...tables.flatMap((table) => tableStatements(dialect, table)),
    ...searched.flatMap((table) => dialect.search.create(table)),
  ]
  for (const statement of statements) await database.run(statement)
  await beginRowChanges(database, now)
  const id = newId('usr')
  const searchKey = userSearchKey({ email: firstUserEmail, username: null, profile: {} })
  await database.run(sql`
    insert into users (id, email, email_key, role, status, profile, search_key, version, created_at, updated_at)
    values (${id}, ${firstUserEmail}, ${firstUserEmail}, 'admin', 'active', '{}', ${searchKey}, 1, ${now}, ${now})`)
  await database.run(sql`
    insert into settings (name, value) values ('hmac_key', ${newSecret()}), ('first_user', ${id})`)
  await database.run(sql`
    insert into oauth_clients (id, name, redirect_uris, is_public, created_at)
    values (${ownClientId}, 'learnctl', ${JSON.stringify(ownRedirectUris)}, 1, ${now})`)
}

/** The changes of rows begin with it. Its random number tells academies apart. */
export async function beginRowChanges(database: Database, now: string): Promise<void> {
  const item = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  await database.run(sql`
    insert into row_changes (commit_order, item, kind, id, changed_at)
    values (0, ${item}, 'academy', '', ${Date.parse(now)})`)
}
