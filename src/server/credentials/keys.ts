import sql from 'sql-template-tag'
import { credentialPrefixes } from '../../codec/credential-text.ts'
import { calls } from '../../contract/calls.ts'
import { type Key, type KeyInput, keys, type NewKey } from '../../contract/keys.ts'
import type { Scope } from '../../contract/operation.ts'
import type { User } from '../../contract/users.ts'
import { grantable } from '../access/principal.ts'
import { digest, newCredential } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { invalid, notFound, ProblemError, parentNotFound } from '../problem-error.ts'
import { findUser } from '../users/user-row.ts'

/** Maximum active keys of a user. Requests are limited by user, so more keys would only be a risk. */
const maxActive = 50

const columns = sql`k.id, k.user_id, (select email from users where id = k.user_id) as user_email, k.name, k.last4, k.scopes, k.expires_at, k.created_at, k.last_used_at, k.revoked_at`

const read = recordReader<Key>(calls.keys.list, ['scopes'])
const toKey = (row: Row): Key => ({ ...read(row), prefix: credentialPrefixes.apiKey })

export const keyRoutes = routesOf(keys, {
  list: async ({ database, query }) =>
    page<Row, Key>(
      database,
      {
        columns,
        from: sql`api_keys k`,
        within: [
          { field: 'createdAt', condition: during(sql`k.created_at`, query) },
          {
            field: 'createdAt',
            condition:
              query.user_id &&
              sql`k.user_id = ${await resolveFilter(database, 'users', query.user_id, 'user_id')}`,
          },
        ],
      },
      { sort: '-createdAt', expressions: { createdAt: sql`k.created_at` }, id: sql`k.id` },
      query,
      toKey,
    ),

  async create(call) {
    const { principal, now } = call
    const input = bodyOf(call)
    const owner = await ownerOf(call, input.userId ?? principal.userId)
    requireGrantable(
      input.scopes,
      grantable[owner.role].filter((scope) => principal.scopes.includes(scope)),
    )
    const expiresAt = input.expiresAt === undefined ? addYear(now) : input.expiresAt
    if (expiresAt !== null && expiresAt <= now) {
      throw invalid([{ pointer: '#/expiresAt', code: 'in_past', detail: 'must be in the future' }])
    }
    await requireRoom(call, owner)
    return createKey(call, { ...input, userId: owner.id, expiresAt })
  },

  async revoke(call) {
    await revokeKey(call, call.params.keyId)
    return undefined
  },
})

/** Throws 404, also for a key of another user than `ownerId`, if given. */
export async function revokeKey(call: Writing, keyId: string, ownerId?: string): Promise<void> {
  const { database, now } = call
  const key = await findKey(database, keyId, ownerId)
  const { id } = key
  if (key.revokedAt !== null) return
  await database.run(sql`update api_keys set revoked_at = ${now} where id = ${id} and revoked_at is null`)
  await recordChange(call, { action: 'key.revoked', id, before: key, after: { ...key, revokedAt: now } })
}

/** Throws 404, also for a key of another user than `ownerId`, if given. */
export async function findKey(database: Database, keyId: string, ownerId?: string): Promise<Key> {
  const row = await database.one(sql`select ${columns} from api_keys k where k.id = ${keyId}`)
  if (!row || (ownerId !== undefined && row['user_id'] !== ownerId)) throw notFound('API key', keyId)
  return toKey(row)
}

/** The same day of the next year, ISO 8601 in UTC. */
export function addYear(now: string): string {
  const date = new Date(now)
  date.setUTCFullYear(date.getUTCFullYear() + 1)
  return date.toISOString()
}

/** Returns the key with its text, which is not stored. */
export async function createKey(
  call: Writing,
  {
    name,
    userId,
    scopes,
    expiresAt,
  }: { name: string; userId: string; scopes: readonly Scope[]; expiresAt: string | null },
): Promise<NewKey> {
  const { database, now, newId } = call
  const key = newCredential('apiKey')
  const id = newId('key')
  await database.run(sql`
    insert into api_keys (id, user_id, name, hash, last4, scopes, expires_at, created_at)
    values (${id}, ${userId}, ${name}, ${digest(key)}, ${key.slice(-4)}, ${JSON.stringify(scopes)}, ${expiresAt}, ${now})`)
  const made = await findKey(database, id)
  await recordChange(call, { action: 'key.created', id, before: null, after: made })
  return { ...made, key }
}

async function ownerOf({ database }: Call, reference: string) {
  const id = await resolve(database, 'users', reference)
  if (!id) throw parentNotFound('#/userId', 'user', reference)
  const user = await findUser(database, id)
  if (user.status === 'active') return user
  throw new ProblemError(
    'user_inactive',
    `User ${user.email} is ${user.status}; API keys require an active user.`,
  )
}

/** Throws 409. */
async function requireRoom({ database, now }: Call, { id, email }: User): Promise<void> {
  const own = sql`select 1 as one from api_keys where user_id = ${id} and revoked_at is null`
  const row = await database.one<Row & { active: number }>(sql`
    select count(*) as active from (
      ${own} and expires_at > ${now} union all ${own} and expires_at is null limit ${maxActive}) live`)
  if (Number(row?.active) < maxActive) return
  const detail = `A user can have at most ${maxActive} active API keys; revoke one of ${email} first.`
  throw new ProblemError('limit_reached', detail)
}

function requireGrantable(wanted: KeyInput['scopes'], allowed: readonly Scope[]): void {
  const beyond = wanted.filter((scope) => !allowed.includes(scope))
  if (beyond.length === 0) return
  const detail = `must be among ${allowed.join(', ')}: a key cannot have more scopes than its creator or the role of its owner`
  throw invalid([{ pointer: '#/scopes', code: 'invalid_choice', detail }])
}
