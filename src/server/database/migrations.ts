import sql, { raw } from 'sql-template-tag'
import { ownClientId } from '../../contract/oauth.ts'
import { attemptSchema } from './attempt-schema.ts'
import { upgradeAuditLog } from './audit-migration.ts'
import { auditSchema } from './audit-schema.ts'
import { counterSchema } from './counter-schema.ts'
import { type Database, DatabaseError, type Store } from './database.ts'
import { define, fillRows } from './fill-rows.ts'
import { addGradebook, addGradeStates, gradesByItem } from './grade-migration.ts'
import type { IdPrefix } from './id.ts'
import { inboxSchema } from './inbox-schema.ts'
import { integrationSchema } from './integration-schema.ts'
import { addListIndexes, addListKeys, addParentIndexes, addSearch } from './list-migration.ts'
import { schema } from './schema.ts'
import { liveCredentials, signInSchema } from './sign-in-schema.ts'
import { takeIntoUse } from './sqlite.ts'
import { trashSchema } from './trash-schema.ts'
import { messageOrder, messagesInHand, outboxSchema } from './webhook-schema.ts'

/** What a migration may need besides the database. */
export interface MigrationContext {
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly newSecret: () => string
  /** Counts how all learners stand, anew. */
  readonly rebuildCounters: (counting: { database: Database; now: string }) => Promise<void>
  /** Told what an academy of an earlier version is brought up to date with. */
  readonly onUpgrade?: OnUpgrade | undefined
}

/** Told before each step of bringing an academy up to date, which one it is from 1 on; each may take minutes. */
export type OnUpgrade = (step: number, steps: number) => Promise<void>

type Migration = (database: Database, context: MigrationContext) => Promise<void>

/** In order; the number of those applied is the database's version. Append only. */
export const migrations: readonly Migration[] = [
  createAcademy,
  addSignIn,
  addSuccessors,
  addKeysByUser,
  addSessionPlaces,
  addCounters,
  addListKeys,
  addListIndexes,
  addSearch,
  addParentIndexes,
  addAttempts,
  addTrash,
  addGradebook,
  addIntegrations,
  addAudit,
  addOutbox,
  addGradeStates,
  addInbox,
  orderMessagesById,
  takeMessagesInHand,
  leaveRemovedEnrollments,
  upgradeAuditLog,
  addLiveCredentials,
]

/** The first user of every academy, an admin. An academy opened in this process acts as this user, without a credential. */
const firstUserEmail = 'admin@academy.local'

/** The version of the database from which on deleted content is overwritten. */
const firstWithoutTraces = 3

const migrationCacheKiB = 64 * 1024
/** What SQLite has unless told otherwise. */
const usualCacheKiB = 2000

/** By which SQLite files say whose they are. */
export const applicationId = 0x6c726e63

/**
 * Brings the database to the newest version, each migration in one transaction of its own; an empty one becomes an
 * academy. Throws DatabaseError for a database from a newer version and for one that is not ours.
 *
 * @param newest the version to stop at: that of an earlier version of this program
 */
export async function migrate(
  database: Store,
  path: string,
  context: MigrationContext,
  newest = migrations.length,
): Promise<void> {
  const version = await versionOf(database, path)
  await takeIntoUse(database, path)
  // What is changed all over a large academy is written once, not at every change; in KiB (SQLite, PRAGMA cache_size).
  if (version < newest) await database.run(raw(`pragma cache_size = -${migrationCacheKiB}`))
  for (let next = version; next < newest; next += 1) {
    if (version > 0) await context.onUpgrade?.(next - version + 1, newest - version)
    await database.write(async (transaction) => {
      // Another process may have been first while this one waited for the write lock.
      if ((await versionOf(transaction, path)) !== next) return
      await migrations[next]?.(transaction, context)
      await transaction.run(raw(`pragma application_id = ${applicationId}`))
      await transaction.run(raw(`pragma user_version = ${next + 1}`))
    })
  }
  if (version > 0 && version < firstWithoutTraces) await rewrite(database)
  if (version < newest) await database.run(raw(`pragma cache_size = -${usualCacheKiB}`))
  // Only now: a migration sorts more than fits into memory. What is kept to undo one write of many shared ones does.
  await database.run(sql`pragma temp_store = memory`)
}

/** Earlier versions of this program left what was deleted in the file, where it was not written over. */
async function rewrite(database: Store): Promise<void> {
  try {
    await database.run(sql`vacuum`)
    await database.emptyLog()
  } catch {
    // A full disk, or another program that uses the file: it is as good as before.
  }
}

async function versionOf(database: Database, path: string): Promise<number> {
  const tables = Number((await database.one(sql`select count(*) as tables from sqlite_schema`))?.['tables'])
  const version = Number((await database.one(sql`pragma user_version`))?.['user_version'])
  const application = Number((await database.one(sql`pragma application_id`))?.['application_id'])
  if (tables > 0 && application !== applicationId) {
    throw new DatabaseError(path, 'is a SQLite database of another program')
  }
  if (version > migrations.length) {
    throw new DatabaseError(
      path,
      `was written by a newer version of learnctl (schema version ${version}; this version supports up to ${migrations.length})`,
    )
  }
  return version
}

async function createAcademy(database: Database, { now, newId, newSecret }: MigrationContext): Promise<void> {
  await define(database, schema)
  await database.run(sql`insert into settings (name, value) values ('hmac_key', ${newSecret()})`)
  await database.run(sql`
    insert into users (id, email, email_key, role, status, profile, version, created_at, updated_at)
    values (${newId('usr')}, ${firstUserEmail}, ${firstUserEmail}, 'admin', 'active', '{}', 1, ${now}, ${now})`)
}

/** A program on its user's own machine listens on any free port of the loopback (RFC 8252 §7.3). */
const ownRedirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback']

async function addSignIn(database: Database, { now }: MigrationContext): Promise<void> {
  await define(database, signInSchema)
  await database.run(sql`
    insert into oauth_clients (id, name, redirect_uris, is_public, created_at)
    values (${ownClientId}, 'learnctl', ${JSON.stringify(ownRedirectUris)}, 1, ${now})`)
}

/** What a refresh token was exchanged for, so that an answer that was lost can be asked for once more. */
async function addSuccessors(database: Database): Promise<void> {
  await define(database, [sql`alter table refresh_tokens add column successor text`])
}

/** The keys of one user, who may be deleted. */
async function addKeysByUser(database: Database): Promise<void> {
  await database.run(sql`create index api_keys_by_user on api_keys (user_id)`)
}

/** Where browser sessions were begun, for their owners to tell them apart. */
async function addSessionPlaces(database: Database, { newId }: MigrationContext): Promise<void> {
  const columns = ['id', 'browser', 'place']
  await define(
    database,
    columns.map((name) => sql`alter table browser_sessions add column ${raw(name)} text not null default ''`),
  )
  await fillRows(database, 'browser_sessions', 'hash', sql`hash`, () => sql`id = ${newId('ses')}`)
  await database.run(sql`drop index browser_sessions_by_user`)
  await database.run(sql`create index browser_sessions_by_user on browser_sessions (user_id, created_at)`)
}

/** Attempts at passwords and codes, for all servers on the database. */
async function addAttempts(database: Database): Promise<void> {
  await define(database, attemptSchema)
}

/** Who changed what. */
async function addAudit(database: Database): Promise<void> {
  await define(database, auditSchema)
}

/** Deliveries of other systems. */
async function addInbox(database: Database): Promise<void> {
  await define(database, inboxSchema)
}

/** Each index of messages is written with each event: their ids tell when they were made, and need none. */
async function orderMessagesById(database: Database): Promise<void> {
  await define(database, messageOrder)
}

async function addLiveCredentials(database: Database): Promise<void> {
  await define(database, liveCredentials)
}

async function takeMessagesInHand(database: Database): Promise<void> {
  await define(database, messagesInHand)
}

/** Versions of lessons, and where what is deleted waits for its end. */
async function addTrash(database: Database): Promise<void> {
  await define(database, trashSchema)
}

/** How other learning management systems are connected. */
async function addIntegrations(database: Database): Promise<void> {
  await define(database, integrationSchema)
}

/** Where events are sent, and the events on their way. */
async function addOutbox(database: Database): Promise<void> {
  await define(database, outboxSchema)
}

/** Counters of how learners stand, and the indexes that find what happened in a period. */
async function addCounters(database: Database, { now, rebuildCounters }: MigrationContext): Promise<void> {
  await define(database, counterSchema)
  await database.run(sql`
    update progress set risen_at = coalesce((
      select s.last_accessed from progress_steps s
      left join progress_steps b on b.user_id = s.user_id and b.course_id = s.course_id and b.version = s.version - 1
      where s.user_id = progress.user_id and s.course_id = progress.course_id
        and (b.version is null or b.percentage < s.percentage)
      order by s.version desc limit 1), started_at, last_accessed)
    where status = 'in_progress' and percentage < 50`)
  await rebuildCounters({ database, now })
}

/** Counts no enrolment that was removed, and finds the other grades of an item. */
async function leaveRemovedEnrollments(
  database: Database,
  { now, rebuildCounters }: MigrationContext,
): Promise<void> {
  await define(database, gradesByItem)
  await rebuildCounters({ database, now })
}
