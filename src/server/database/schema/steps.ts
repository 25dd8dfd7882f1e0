import { createHash, randomBytes } from 'node:crypto'
import sql, { raw } from 'sql-template-tag'
import {
  aboutLine,
  detailsText,
  type FormerEntries,
  firstHash,
  linkText,
  originText,
} from '../../../contract/audit-chain.ts'
import { type Database, DatabaseError, type Row, schemaVersion, searched } from '../database.ts'
import { type IdPrefix, timeOfId } from '../id.ts'
import { terms } from './courses.ts'
import {
  changeCounts,
  changes,
  planSteps,
  plans,
  rowChanges,
  webhookEndpoints,
  webhookSubscriptions,
} from './events.ts'
import { groupTables } from './groups.ts'
import { lineItemTables } from './learning.ts'
import { clientTokens } from './oauth.ts'
import { beginRowChanges, createAcademy, type SchemaContext } from './schema.ts'
import { addColumn, integer, orNull, real, type Table, tableStatements, text, withDefault } from './table.ts'
import { calendars } from './users.ts'

/** Version 0 is an empty database. */
export interface SchemaStep {
  readonly from: number
  readonly to: number
  readonly run: (database: Database) => Promise<void>
}

/** The first creates an academy. */
export function schemaSteps(context: SchemaContext): readonly SchemaStep[] {
  return [
    { from: 0, to: schemaVersion, run: (database) => createAcademy(database, context) },
    { from: 20, to: 25, run: (database) => upgradeFrom20(database, context) },
    { from: 25, to: 26, run: (database) => upgradeFrom25(database, context) },
    { from: 26, to: 27, run: upgradeFrom26 },
    { from: 27, to: 28, run: (database) => addTables(database, [plans, planSteps]) },
    { from: 28, to: 29, run: dropCounters },
    { from: 29, to: 30, run: addPassingScores },
    { from: 30, to: 31, run: renewSearch },
  ]
}

/**
 * Returns the steps from a version to the newest, in order. Throws DatabaseError for a newer version and for a
 * version without a step.
 *
 * @param shown name of the database in messages
 */
export function stepsFrom(
  version: number,
  steps: readonly SchemaStep[],
  shown: string,
): readonly SchemaStep[] {
  const newest = Math.max(...steps.map(({ to }) => to))
  if (version > newest) {
    throw new DatabaseError(
      shown,
      `was written by a newer version of learnctl (schema version ${version}; this version supports up to ${newest})`,
    )
  }
  if (version === newest) return []
  const next = steps.find(({ from }) => from === version)
  if (next) return [next, ...stepsFrom(next.to, steps, shown)]
  const oldest = Math.min(...steps.map(({ from }) => from).filter((from) => from > 0))
  throw new DatabaseError(
    shown,
    `was written by a version of learnctl that cannot be upgraded (schema version ${version}; this version upgrades from ${oldest})`,
  )
}

/**
 * Adds an index that sorts the learners of a course and indexes for newer queries, and includes the subject of an audit
 * entry in its hash.
 */
async function upgradeFrom20(database: Database, context: SchemaContext): Promise<void> {
  await database.run(addColumn(database.dialect, 'enrollments', 'user_email', withDefault(text, '')))
  await database.run(sql`
    update enrollments set user_email = (select u.email from users u where u.id = enrollments.user_id)`)
  const indexes = [
    "create index enrollments_by_email on enrollments (course_id, user_email, user_id, status) where role = 'learner'",
    'create index grades_by_course_item on grades (course_id, item_id, created_at)',
    'create index api_keys_live on api_keys (user_id, expires_at) where revoked_at is null',
    'create index grants_live on grants (user_id, expires_at) where revoked_at is null',
  ]
  for (const index of indexes) await database.run(raw(index))
  await upgradeAuditLog(database, context)
}

/**
 * Adds terms, groups, changes of many records, kinds of endpoints, calendars, due dates, applications that act for themselves, OAuth clients of
 * integrations, the creator of a course, whom its first version names, and the changes of rows.
 */
async function upgradeFrom25(database: Database, context: SchemaContext): Promise<void> {
  await addCreators(database)
  await addChanges(database)
  await addTerms(database)
  await addGroups(database)
  await addEndpointKinds(database)
  await addTables(database, [calendars])
  await addDueDates(database)
  await addMachineClients(database)
  await addTables(database, lineItemTables)
  await addPersonIndexes(database)
  await addIntegrationClients(database)
  await addTables(database, [rowChanges])
  await beginRowChanges(database, context.now)
}

/** Progress at 0% becomes in progress, since its learner has opened the course. */
async function upgradeFrom26(database: Database): Promise<void> {
  for (const table of ['progress', 'progress_steps', 'deleted_progress', 'deleted_progress_steps'])
    await database.run(raw(`update ${table} set status = 'in_progress' where status = 'not_started'`))
}

/** Figures are read from the rows that they are about. */
async function dropCounters(database: Database): Promise<void> {
  for (const table of ['counters', 'counter_changes']) await database.run(raw(`drop table ${table}`))
  await database.run(sql`delete from settings where name = 'counter_correction'`)
}

async function addPassingScores(database: Database): Promise<void> {
  // By an earlier version, which copied in several transactions.
  if (await database.one(sql`select value from settings where name = 'unfinished_copy'`)) {
    throw new DatabaseError('The database', 'is an unfinished copy', {
      hint: 'Remove it, and copy the academy again',
    })
  }
  for (const table of ['courses', 'deleted_courses']) {
    await database.run(addColumn(database.dialect, table, 'passing_score', withDefault(real, 0)))
    await database.run(
      raw(`update ${table} set
        passing_score = cast(attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision)`),
    )
  }
}

/** On SQLite each insert filled the index by triggers. */
async function renewSearch(database: Database): Promise<void> {
  const { search } = database.dialect
  if (!search.fill) return
  for (const table of searched) {
    // An earlier step has made the new one.
    if (await database.one(sql`select 1 from pragma_table_info(${table}) where name = 'search_number'`))
      continue
    for (const event of ['insert', 'update', 'delete'])
      await database.run(raw(`drop trigger ${table}_search_${event}`))
    for (const name of [`${table}_numbers`, `${table}_search`]) await database.run(raw(`drop table ${name}`))
    for (const statement of search.create(table)) await database.run(statement)
    while (await search.fill(database, table));
  }
}

/** All data about a person is found by them, a page at a time. */
async function addPersonIndexes(database: Database): Promise<void> {
  const statements = [
    'drop index audit_entries_by_about',
    'create index audit_entries_by_about on audit_entries (about_id, id) where about_id is not null',
    'drop index webhook_deliveries_by_user',
    'create index webhook_deliveries_by_user on webhook_deliveries (user_id, id) where user_id is not null',
    'create index deleted_enrollments_by_user on deleted_enrollments (user_id, course_id, id)',
    'create index deleted_progress_by_user on deleted_progress (user_id, course_id)',
    'create index deleted_grades_by_user on deleted_grades (user_id, id)',
    'create index deleted_course_grades_by_user on deleted_course_grades (user_id, course_id)',
  ]
  for (const statement of statements) await database.run(raw(statement))
}

async function addCreators(database: Database): Promise<void> {
  const { dialect } = database
  for (const trash of ['', 'deleted_']) {
    await database.run(addColumn(dialect, `${trash}courses`, 'created_by', orNull(text)))
    const versions = `${trash}course_versions`
    await database.run(
      raw(`update ${trash}courses set created_by = (
        select v.user_id from ${versions} v where v.course_id = ${trash}courses.id and v.version = 1)`),
    )
    await database.run(
      raw(
        `create index ${trash}courses_by_creator on ${trash}courses (created_by, id) where created_by is not null`,
      ),
    )
  }
  await database.run(sql`
    create index deleted_enrollments_by_instructor on deleted_enrollments (user_id, course_id, status) where role = 'instructor'`)
}

async function addChanges(database: Database): Promise<void> {
  const { dialect } = database
  await addTables(database, [changes, changeCounts])
  await database.run(addColumn(dialect, 'audit_entries', 'change_id', orNull(text)))
  await database.run(
    sql`create index audit_entries_by_change on audit_entries (change_id, id) where change_id is not null`,
  )
}

async function addGroups(database: Database): Promise<void> {
  const { dialect } = database
  await addTables(database, groupTables)
  for (const statement of dialect.search.create('groups')) await database.run(statement)
  for (const column of ['groups', 'members']) {
    await database.run(addColumn(dialect, 'deletions', column, withDefault(integer, 0)))
  }
}

async function addTerms(database: Database): Promise<void> {
  const { dialect } = database
  await addTables(database, [terms])
  for (const table of ['courses', 'deleted_courses']) {
    await database.run(addColumn(dialect, table, 'term_id', orNull(text)))
  }
  await database.run(
    raw(
      'create index courses_by_term on courses (term_id, status, level, created_at, id, updated_at, title_key) where term_id is not null',
    ),
  )
}

async function addDueDates(database: Database): Promise<void> {
  for (const table of ['lessons', 'lesson_versions', 'deleted_lessons', 'deleted_lesson_versions']) {
    await database.run(addColumn(database.dialect, table, 'due_at', orNull(text)))
  }
  await database.run(sql`create index lessons_due on lessons (course_id, due_at) where due_at is not null`)
}

async function addEndpointKinds(database: Database): Promise<void> {
  const { dialect } = database
  const added = [
    [webhookEndpoints, ['kind', 'settings', 'next_delivery_at', 'digest_due_at']],
    [webhookSubscriptions, ['courses']],
  ] as const
  for (const [{ name: table, columns }, names] of added) {
    for (const name of names) {
      const column = columns[name]
      if (column) await database.run(addColumn(dialect, table, name, column))
    }
  }
}

async function addMachineClients(database: Database): Promise<void> {
  await database.run(addColumn(database.dialect, 'oauth_clients', 'machine_scopes', withDefault(text, '[]')))
  await addTables(database, [clientTokens])
}

async function addIntegrationClients(database: Database): Promise<void> {
  for (const name of ['client_id', 'client_secret', 'refresh_token', 'token_url']) {
    await database.run(addColumn(database.dialect, 'integrations', name, orNull(text)))
  }
}

async function addTables(database: Database, tables: readonly Table[]): Promise<void> {
  for (const table of tables) {
    for (const statement of tableStatements(database.dialect, table)) await database.run(statement)
  }
}

interface LinkedRow extends Row {
  readonly place: number
  readonly id: string
  readonly about_id: string | null
  readonly hash: string
}

const atOnce = 500
const saltBytes = 12

/**
 * Includes the subject of an entry in its hash. Existing entries keep their hashes, which may have been noted elsewhere:
 * one more entry has a digest of their subjects and is linked in the new way. Entries that wait to be linked follow it.
 */
export async function upgradeAuditLog(
  database: Database,
  { newId }: { newId: (prefix: IdPrefix) => string },
): Promise<void> {
  const digest = createHash('sha256')
  let last: { readonly place: number; readonly hash: string } = { place: 0, hash: firstHash }
  for (;;) {
    const rows = await database.all<LinkedRow>(sql`
      select place, id, about_id, hash from audit_entries where place > ${last.place} order by place limit ${atOnce}`)
    for (const { place, id, about_id: aboutId } of rows) digest.update(aboutLine({ place, id, aboutId }))
    const end = rows.at(-1)
    if (!end) break
    last = end
  }
  if (last.place > 0) await append(database, newId('aud'), last, digest.digest('hex'))
}

async function append(
  database: Database,
  id: string,
  last: { readonly place: number; readonly hash: string },
  digest: string,
): Promise<void> {
  const nothing = { userId: null, credential: null, subjectId: null, aboutId: null } as const
  const place = last.place + 1
  const action = 'audit_log.upgraded'
  const origin = originText({ originSalt: newSalt(), address: null, userAgent: null })
  const after = { entries: last.place, digest } satisfies FormerEntries
  const details = detailsText({
    ...{ detailsSalt: newSalt(), requestId: null, subjectName: null, before: null },
    after,
  })
  const [originDigest, detailsDigest] = [sha256(origin), sha256(details)]
  const entry = { ...nothing, place, id, at: timeOfId(id), action, originDigest, detailsDigest } as const
  const hash = sha256(linkText(last.hash, entry))
  await database.run(sql`
    insert into audit_entries (place, id, action, origin, origin_digest, details, details_digest, hash)
    values (${place}, ${id}, ${action}, ${origin}, ${originDigest}, ${details}, ${detailsDigest}, ${hash})`)
}

function newSalt(): string {
  return randomBytes(saltBytes).toString('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
