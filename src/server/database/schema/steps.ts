import sql, { raw } from 'sql-template-tag'
import { type Database, DatabaseError } from '../database.ts'
import { upgradeAuditLog } from './audit-upgrade.ts'
import { createAcademy, type SchemaContext } from './schema.ts'
import { addColumn, text, withDefault } from './table.ts'

/** A step from one version of the schema to another, in one transaction of its own. Version 0 is an empty database. */
export interface SchemaStep {
  readonly from: number
  readonly to: number
  readonly run: (database: Database) => Promise<void>
}

/** The version of the schema that this program works with. */
export const schemaVersion = 25

/** Returns the step that makes an academy, and those that upgrade one of an earlier version. */
export function schemaSteps(context: SchemaContext): readonly SchemaStep[] {
  return [
    { from: 0, to: schemaVersion, run: (database) => createAcademy(database, context) },
    { from: 20, to: 25, run: (database) => upgradeFrom20(database, context) },
  ]
}

/**
 * Returns those of some steps that lead from a version to the newest, in order. Throws DatabaseError for a newer version, and
 * for one that no step begins with.
 *
 * @param shown what messages call the database
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
 * Sorts the learners of a course by an index, counts no removed enrolments, covers in the audit log whom an entry is about,
 * and adds indexes for what is looked up since.
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
