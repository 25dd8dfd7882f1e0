import sql from 'sql-template-tag'
import { type Lease, leases } from '../contract/leases.ts'
import type { Database, Row } from './database/database.ts'
import { writeSetting } from './database/record.ts'
import { type Call, isRole } from './http/handler.ts'
import { bodyOf, routesOf } from './http/schema-routes.ts'
import { notFound, ProblemError } from './problem-error.ts'
import { findUser } from './users/user-row.ts'

const setting = 'apply_lease'
const leaseMs = 60_000

type StoredLease = Omit<Lease, 'userEmail'>

/** Leases are not audited, which would add an entry every few seconds; changes made under them are. */
export const leaseRoutes = routesOf(leases, {
  async take(call) {
    const { database, now, principal } = call
    const { id, holder } = bodyOf(call)
    const current = await readLease(database)
    const isRenewed = current?.id === id && current.userId === principal.userId
    const isHeld = current && !isRenewed && current.expiresAt > now
    if (isHeld && !(await yieldsTo(call, current))) throw await inProgress(call, current)
    const lease: StoredLease = {
      id,
      holder,
      userId: principal.userId,
      takenAt: isRenewed ? current.takenAt : now,
      expiresAt: new Date(Date.parse(now) + leaseMs).toISOString(),
    }
    await writeSetting(database, setting, JSON.stringify(lease))
    return shown(database, lease)
  },

  async release(call) {
    const { database, principal, params } = call
    const current = await readLease(database)
    if (current?.id !== params.leaseId) throw notFound('lease', params.leaseId)
    if (current.userId !== principal.userId && principal.role !== 'admin') {
      throw new ProblemError('forbidden', 'Only its user or an admin can release the apply lease.')
    }
    await database.run(sql`delete from settings where name = ${setting}`)
    return undefined
  },
})

async function readLease(database: Database): Promise<StoredLease | null> {
  const row = await database.one<Row & { value: string }>(
    sql`select value from settings where name = ${setting}`,
  )
  return row ? (JSON.parse(row.value) as StoredLease) : null
}

/** An admin asks and the holder is none: an instructor's lease must not keep admins from applying. */
async function yieldsTo(call: Call, { userId }: StoredLease): Promise<boolean> {
  return isRole(call, 'admin') && (await findUser(call.database, userId)).role !== 'admin'
}

async function shown(database: Database, lease: StoredLease): Promise<Lease> {
  return { ...lease, userEmail: (await findUser(database, lease.userId)).email }
}

/**
 * Returns a 409 that names who applies, since when, and when the lease ends unless renewed; `time` is the
 * server's.
 */
async function inProgress({ database, now }: Call, current: StoredLease): Promise<ProblemError> {
  const lease = await shown(database, current)
  const detail = `Another apply is in progress: ${lease.userEmail}, ${lease.holder}, since ${lease.takenAt}.`
  return new ProblemError('apply_in_progress', detail, { members: { lease, time: now } })
}
