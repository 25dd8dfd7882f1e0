import sql, { raw } from 'sql-template-tag'
import { type Database, DatabaseError } from '../database.ts'
import { upgradeAuditLog } from './audit-upgrade.ts'
import { createAcademy, type SchemaContext } from './schema.ts'
import { addColumn, text, withDefault } from './table.ts'

/** A migration from one schema version to another, in one transaction. Version 0 is an empty database. */
export interface SchemaStep {
  readonly from: number
  readonly to: number
  readonly run: (database: Database) => Promise<void>
}

/** The schema version that this program works with. */
export const schemaVersion = 25

/** Returns the step that creates an academy and the steps that upgrade earlier versions. */
export function schemaSteps(context: SchemaContext): readonly SchemaStep[] {
  return [
    { from: 0, to: schemaVersion, run: (database) => createAcademy(database, context) },
    { from: 20, to: 25, run: (database) => upgradeFrom20(database, context) },
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
 * Adds an index that sorts the learners of a course and indexes for newer queries, stops counting removed enrolments,
 * and includes the subject of an audit entry in its hash.
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
  await context.rebuildCounters({ database, now: context.now })
  await upgradeAuditLog(database, context)
}
