import sql from 'sql-template-tag'
import { isStorableText } from '../../codec/unicode-text.ts'
import { type App, type AppInput, apps, type NewApp } from '../../contract/apps.ts'
import { ownClientId } from '../../contract/oauth.ts'
import { digest, newCredential } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { notFound, ProblemError } from '../problem-error.ts'

interface AppRow extends Row {
  readonly id: string
  readonly name: string
  readonly redirect_uris: string
  readonly is_public: number
  readonly secret_hash: string | null
  readonly created_at: string
  /** A JSON array. */
  readonly machine_scopes: string
}

const columns = sql`c.id, c.name, c.redirect_uris, c.is_public, c.secret_hash, c.created_at, c.machine_scopes`

export const appRoutes = routesOf(apps, {
  list: ({ database, query }) =>
    page<AppRow, App>(
      database,
      {
        columns,
        from: sql`oauth_clients c`,
        within: [{ field: 'createdAt', condition: during(sql`c.created_at`, query) }],
      },
      { sort: '-createdAt', expressions: { createdAt: sql`c.created_at` }, id: sql`c.id` },
      query,
      toApp,
    ),

  create: (call) => registerApp(call, bodyOf(call)),

  async delete(call) {
    await deleteApp(call, call.params.clientId)
    return undefined
  },
})

/** The secret is not stored; a public application has none. */
export async function registerApp(
  call: Writing,
  { name, redirectUris = [], public: isPublic, machineScopes }: AppInput,
): Promise<NewApp> {
  const { database, now, newId } = call
  const clientId = newId('app')
  const clientSecret = isPublic ? null : newCredential('clientSecret')
  await database.run(sql`
    insert into oauth_clients (id, name, redirect_uris, is_public, secret_hash, created_at, machine_scopes)
    values (${clientId}, ${name}, ${JSON.stringify(redirectUris)}, ${isPublic}, ${clientSecret && digest(clientSecret)},
            ${now}, ${JSON.stringify(machineScopes)})`)
  const app = await findApp(database, clientId)
  await recordChange(call, { action: 'app.created', id: clientId, before: null, after: app })
  return { ...app, clientSecret }
}

/** Throws 404, and 403 for this program's own client. */
async function deleteApp(call: Writing, clientId: string): Promise<void> {
  const { database } = call
  const app = await findApp(database, clientId)
  if (clientId === ownClientId) {
    throw new ProblemError('forbidden', `${ownClientId} is the built-in application and cannot be deleted.`)
  }
  await database.run(sql`delete from oauth_clients where id = ${clientId}`)
  await recordChange(call, { action: 'app.deleted', id: clientId, before: app, after: null })
}

export async function findApp(database: Database, clientId: string): Promise<App> {
  const row = await findAppRow(database, clientId)
  if (!row) throw notFound('application', clientId)
  return toApp(row)
}

export async function findAppRow(database: Database, clientId: string): Promise<AppRow | undefined> {
  if (!isStorableText(clientId)) return undefined
  return database.one<AppRow>(sql`select ${columns} from oauth_clients c where c.id = ${clientId}`)
}

function toApp(row: AppRow): App {
  return {
    clientId: row.id,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    public: row.is_public === 1,
    machineScopes: JSON.parse(row.machine_scopes) as App['machineScopes'],
    createdAt: row.created_at,
  }
}
