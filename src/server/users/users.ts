import sql, { type Sql } from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { User, UserInput, users } from '../../contract/users.ts'
import { seenOnly, visibleRows, visibleUsers } from '../access/sight.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import { storeRestoredUser } from '../changes/row-changes.ts'
import { requireUnique } from '../database/reference.ts'
import { userSearchKey } from '../database/search.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, isRole, requireAdmin, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/request-body.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { invalid, ProblemError } from '../problem-error.ts'
import { eraseUser } from './erasure.ts'
import {
  commonPasswordFaults,
  getOwn,
  type NewPasswordHash,
  newPasswordHash,
  prepareOwn,
  updateOwn,
} from './own-profile.ts'
import { readPersonalData } from './personal-data.ts'
import { endAccess, endKeys, recordPassword } from './user-access.ts'
import { userReads } from './user-reads.ts'
import { findUser, toUser, userColumns, writeEnrolledEmail } from './user-row.ts'

export const userRoutes = routesOf(users, {
  ...userReads,

  create: { prepare: (call) => newPasswordHash(call, call.rawBody), handle: createUser },

  batch: {
    prepare: (call) =>
      Promise.all(readBatch(call.rawBody, 'fail').items.map((item) => newPasswordHash(call, item))),
    handle(call) {
      const { items, onExists } = readBatch(call.rawBody, 'fail')
      const hashes = call.prepared as readonly NewPasswordHash[]
      return runBatch(call, items, async (item, index) => {
        const one = { ...item, prepared: hashes[index] }
        const user = await findExisting(one)
        return upsert(
          onExists,
          user,
          () => createUser(one),
          (id) => updateUser(user?.status === 'deleted' ? restoring(one) : one, id),
        )
      })
    },
  },

  update: {
    prepare: (call) => newPasswordHash(call, call.rawBody),
    handle: (call) => updateUser(call, call.params.userId),
  },

  async delete(asked) {
    const user = await findUser(asked.database, asked.params.userId)
    const call = asked.query.erase && asked.principal.userId === user.id ? withoutOrigin(asked) : asked
    requireVersion(call, user.version)
    await requireMayDelete(call, user)
    if (call.query.erase) await eraseUser(call, user)
    else if (user.status !== 'deleted') {
      await call.database.run(sql`
        update users set status = 'deleted', version = version + 1, updated_at = ${call.now}
        where id = ${user.id} and version = ${user.version}`)
    }
    await recordDeletion(call, user)
    await endAccess(call, user.id)
    await endKeys(call, user.id)
    return undefined
  },

  data: async ({ database, params, query }) =>
    readPersonalData(database, await findUser(database, params.userId), query),

  profile: getOwn,
  updateProfile: { prepare: prepareOwn, handle: updateOwn },
})

/** Of users who erase themselves it is personal data. */
function withoutOrigin<Asked extends Call<typeof users.delete>>(call: Asked): Asked {
  return { ...call, origin: { ...call.origin, address: null, userAgent: null } }
}

/** An item that changes a deleted user restores it, unless the item has a status. */
function restoring(item: Call): Call {
  const { rawBody } = item
  return { ...item, rawBody: isJsonObject(rawBody) ? { status: 'active', ...rawBody } : rawBody }
}

async function createUser(call: Call): Promise<User> {
  const input = resourceOf(call, UserInput, User, {}, commonPasswordFaults(preparedHash(call)))
  if (input.status === 'deleted') {
    throw invalid([{ pointer: '#/status', code: 'invalid_choice', detail: 'must be active or suspended' }])
  }
  requireMayCreate(call, input)
  await requireUnique(call.database, 'users', input, undefined, visibleRows(call, 'users'))
  const id = call.newId('usr')
  await call.database.run(sql`
    insert into users (id, external_id, email, email_key, username, role, status, profile, search_key, password_hash,
                       managed_by, version, created_at, updated_at)
    values (${id}, ${input.externalId}, ${input.email}, ${input.email.toLowerCase()}, ${input.username}, ${input.role},
            ${input.status}, ${JSON.stringify(input.profile)}, ${userSearchKey(input)}, ${preparedHash(call) ?? null},
            ${input.managedBy}, 1, ${call.now}, ${call.now})`)
  // The row equals the input, so it need not be read again.
  const { password, ...attributes } = input
  const user = { id, ...attributes, version: 1, createdAt: call.now, updatedAt: call.now }
  await recordChange(call, { action: 'user.created', id, before: null, after: user })
  return user
}

async function updateUser(call: Call, reference: string): Promise<User> {
  const current = await findUser(call.database, reference)
  const input = resourceOf(call, UserInput, User, current, commonPasswordFaults(preparedHash(call)))
  requireVersion(call, current.version)
  await requireMayChange(call, current, input)
  await requireUnique(call.database, 'users', input, current.id)
  const { password, ...attributes } = input
  if (changedFields(attributes, current).length === 0 && password === null) return current
  await call.database.run(sql`
    update users set
      external_id = ${input.externalId}, email = ${input.email}, email_key = ${input.email.toLowerCase()},
      username = ${input.username}, role = ${input.role}, status = ${input.status},
      profile = ${JSON.stringify(input.profile)}, search_key = ${userSearchKey(input)},
      password_hash = coalesce(${preparedHash(call) ?? null}, password_hash),
      managed_by = ${input.managedBy}, version = version + 1, updated_at = ${call.now}
    where id = ${current.id} and version = ${current.version}`)
  if (input.email !== current.email) await writeEnrolledEmail(call.database, current.id, input.email)
  const user = await findUser(call.database, current.id)
  await recordUpdate(call, 'user', current, user, actionsFrom(current.status)[user.status])
  if (current.status === 'deleted' && user.status !== 'deleted') storeRestoredUser(call, user.id)
  if (password !== null) await recordPassword(call, user.id)
  if (password !== null || input.status !== 'active') await endAccess(call, current.id)
  // To or from deleted: a restored user has no keys, even if the deletion left some.
  if ([input.status, current.status].includes('deleted')) await endKeys(call, current.id)
  return user
}

function actionsFrom(status: User['status']) {
  return {
    active: status === 'deleted' ? 'user.restored' : 'user.activated',
    suspended: status === 'deleted' ? 'user.restored' : 'user.suspended',
    deleted: 'user.deleted',
  } as const
}

async function recordDeletion(call: Call<typeof users.delete>, before: User): Promise<void> {
  const after = await findUser(call.database, before.id)
  if (call.query.erase) await recordChange(call, { action: 'user.erased', id: before.id, before, after })
  else await recordUpdate(call, 'user', before, after, 'user.deleted')
}

/**
 * Returns the user of a batch item whom the caller sees: by external id, else by email address. A user with another
 * external id is another user; then the address is taken.
 */
async function findExisting(call: Call): Promise<User | undefined> {
  const { database, rawBody } = call
  if (!isJsonObject(rawBody)) return undefined
  const { externalId, email } = rawBody
  const visible = visibleUsers(call, 'u')
  const one = async (condition: Sql) => {
    const row = await database.one(
      sql`select ${userColumns} from users u where ${seenOnly(condition, visible)}`,
    )
    return row && toUser(row)
  }
  const known = isIdentifier(externalId) ? await one(sql`u.external_id = ${externalId}`) : undefined
  if (known || !isIdentifier(email)) return known
  const addressed = await one(sql`u.email_key = ${email.trim().toLowerCase()}`)
  const isOther = isIdentifier(externalId) && addressed?.externalId != null
  return isOther ? undefined : addressed
}

/** A longer or malformed one is refused when the item is validated. */
function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 512 && isStorableText(value)
}

function preparedHash({ prepared }: Call): NewPasswordHash {
  return prepared as NewPasswordHash
}

/** Throws 403. Instructors create learners, without a password. */
function requireMayCreate(call: Call, { role, password }: UserInput): void {
  if (role === 'admin') requireAdmin(call, 'Creating an admin')
  if (password !== null) requireAdmin(call, "Setting another user's password")
  if (role === 'learner' || isRole(call, 'admin')) return
  throw new ProblemError(
    'forbidden',
    `Role ${call.principal.role} can create learners only, not a user with role ${role}.`,
  )
}

/** Throws 403, and 409 `last_admin` if no admin would be left to undo the change. */
async function requireMayChange(call: Call, current: User, input: UserInput): Promise<void> {
  // A batch that may create users may not be allowed to change them.
  if (!isRole(call, 'admin')) {
    throw new ProblemError('forbidden', `Role ${call.principal.role} cannot change user ${current.email}.`)
  }
  if (current.role === 'admin') requireAdmin(call, 'Changing an admin')
  if (input.role === 'admin') requireAdmin(call, 'Changing a role to admin')
  if (input.password !== null) requireAdmin(call, 'Setting a password without the current one')
  const loses = input.role !== 'admin' || input.status !== 'active'
  if (loses) await requireAnotherAdmin(call, current)
}

/** Throws 403 without the scope `admin`, 409 `last_admin` if no admin would be left. */
async function requireMayDelete(call: Call, user: User): Promise<void> {
  if (user.role === 'admin') requireAdmin(call, 'Deleting an admin')
  await requireAnotherAdmin(call, user)
}

async function requireAnotherAdmin({ database }: Call, { id, email, role, status }: User): Promise<void> {
  if (role !== 'admin' || status !== 'active') return
  const other = await database.one(
    sql`select 1 from users where role = 'admin' and status = 'active' and id <> ${id} limit 1`,
  )
  if (other) return
  throw new ProblemError('last_admin', `User ${email} is the last active admin; create another admin first.`)
}
