import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { openAcademyFile, openAcademyOnPostgres } from '../../../src/server/academy/open-academy.ts'
import { linkAll } from '../../../src/server/changes/audit-entry.ts'
import type { Store } from '../../../src/server/database/database.ts'
import type { SchemaContext } from '../../../src/server/database/schema/schema.ts'
import { schemaSteps } from '../../../src/server/database/schema/steps.ts'
import { onPostgres, openTestAcademy } from '../../helpers/academy.ts'
import { checkChain, readAuditLog } from '../../helpers/audit-log.ts'
import { makeOldAcademy, makeOldAcademyOnPostgres } from '../../helpers/old-academy.ts'

/** Opens an academy made by the program of 9430e96. */
async function openUpgraded() {
  if (!onPostgres) {
    return openTestAcademy({
      open(path, now) {
        makeOldAcademy(path)
        return openAcademyFile(path, now)
      },
    })
  }
  const { url, remove } = await makeOldAcademyOnPostgres()
  return openTestAcademy({
    async open(_, now) {
      const academy = await openAcademyOnPostgres({ url, env: {} }, now)
      const close = () => academy.database.close().then(remove)
      return { ...academy, database: { ...academy.database, close } }
    },
  })
}

/** Returns the columns and indexes of an academy, as its engine describes them, except defaults in the trash. */
async function schemaOf({ all }: Store): Promise<unknown[]> {
  if (onPostgres) {
    return [
      await all(sql`
        select c.table_name, c.column_name, c.data_type, c.collation_name, c.is_nullable,
          case when c.table_name not like 'deleted_%' then c.column_default end as value
        from information_schema.columns c where c.table_schema = 'public'
        order by c.table_name, c.ordinal_position`),
      await all(
        sql`select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname`,
      ),
      await all(sql`
        select conrelid::regclass::text as name, pg_get_constraintdef(oid) as definition from pg_constraint
        where connamespace = 'public'::regnamespace order by 1, 2`),
    ]
  }
  return [
    // An earlier version declared single primary key columns as nullable.
    await all(sql`
      select t.name as owner, c.cid, c.name, lower(c.type) as type, c."notnull" or c.pk > 0 as required, case when t.name not like 'deleted_%' then c.dflt_value end as value, c.pk
      from pragma_table_list t join pragma_table_info(t.name) c where t.schema = 'main' and t.name not like 'sqlite_%'
      order by t.name, c.cid`),
    await all(sql`
      select t.name as owner, f."from", f."table", f."to", f.on_delete
      from pragma_table_list t join pragma_foreign_key_list(t.name) f order by 1, 2, 3`),
    await all(sql`
      select name, lower(replace(replace(sql, char(10), ''), ' ', '')) as text from sqlite_schema
      where type in ('index', 'trigger') order by name`),
  ]
}

test('an academy of 9430e96 is upgraded to the schema of a new one', async () => {
  await using upgraded = await openUpgraded()
  await using made = await openTestAcademy()
  const [found, expected] = [await schemaOf(upgraded.database), await schemaOf(made.database)]
  for (const [index, part] of expected.entries()) expect(found[index]).toEqual(part)
})

test('all records of an academy of 9430e96 exist after the upgrade, and can be changed', async () => {
  await using academy = await openUpgraded()
  const { database } = academy
  const admin = await academy.person('admin')
  const { body: course } = await admin.get('/v1/courses/ext:AAA-2013J')
  expect(course).toMatchObject({ title: 'Module AAA, presentation 2013J', status: 'published', version: 2 })
  const [, first] = (await admin.get(`/v1/courses/${course.id}/versions`)).body.data
  expect(first).toMatchObject({ version: 1, userId: course.createdBy })
  const { body: learners } = await admin.get('/v1/analytics/learners')
  expect(learners).toMatchObject({
    data: [
      { email: 'oulad-11391@example.org', completionPercentage: 60 },
      { email: 'oulad-28400@example.org', completionPercentage: 60 },
    ],
  })
  expect((await admin.get('/v1/users?q=oulad-113')).body.data).toMatchObject([{ externalId: '11391' }])
  const [deleted] = (await admin.get('/v1/deleted-courses')).body.data
  const restored = await admin.post(`/v1/deleted-courses/${deleted.id}/restore`)
  expect(restored.body).toMatchObject({ externalId: 'AAA-2012B', createdBy: course.createdBy })
  await admin.put('/v1/learners/ext:11391/progress', { courseId: course.id, completionPercentage: 80 })
  expect(await database.check()).toEqual([])
})

test('progress at 0% of 0.2 is in progress after the upgrade, and counted so', async () => {
  await using academy = await openTestAcademy()
  const { database } = academy
  const [admin, learner] = [await academy.person('admin'), await academy.person('learner')]
  const courseId = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body.id
  await admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage: 0 })
  await database.run(sql`update progress set status = 'not_started'`)
  const step = schemaSteps({} as SchemaContext).find(({ from }) => from === 26)
  await database.write((transaction) => step!.run(transaction))
  const { data, summary } = (await admin.get('/v1/analytics/learners')).body
  expect(data).toMatchObject([{ progressStatus: 'in_progress', completionPercentage: 0 }])
  expect(summary).toMatchObject({ notStarted: 0, inProgress: 1 })
})

test('the audit log of an academy of 9430e96 is whole after the upgrade', async () => {
  await using academy = await openUpgraded()
  const admin = await academy.person('admin')
  await linkAll(academy.database)
  expect(checkChain(await readAuditLog(admin))).toMatchObject({ broken: 0, unlinked: 0 })
  expect((await admin.get('/v1/audit?action=audit_log.upgraded')).body.data).toMatchObject([{ place: 8 }])
})

test.skipIf(onPostgres)('enrolments that were removed before the upgrade are no longer counted', async () => {
  await using academy = await openTestAcademy({
    async open(path, now) {
      makeOldAcademy(path)
      const { DatabaseSync } = await import('node:sqlite')
      const older = new DatabaseSync(path)
      older.exec(`update enrollments set status = 'deleted' where rowid = 1`)
      older.close()
      return openAcademyFile(path, now)
    },
  })
  const admin = await academy.person('admin')
  expect((await admin.get('/v1/analytics/learners')).body.summary).toMatchObject({ enrollments: 1 })
})
