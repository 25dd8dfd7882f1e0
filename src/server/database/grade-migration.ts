import sql, { join, raw } from 'sql-template-tag'
import type { Database, Row } from './database.ts'
import { define } from './fill-rows.ts'
import type { IdPrefix } from './id.ts'

interface OldGrade extends Row {
  readonly user_id: string
  readonly course_id: string
  readonly source: string
  readonly item_id: string
  readonly label: string
  readonly score_given: number
  readonly score_maximum: number
  readonly weight: number
  readonly graded_at: string
}

/** Rows held in memory at a time. */
const atOnce = 500

const columns = `
  user_id text not null references users (id),
  course_id text not null references courses (id) on delete cascade,
  source text not null,
  item_id text not null,
  label text not null,
  score_given real not null,
  score_maximum real not null,
  weight real,
  graded_at text not null,
  version integer not null,
  created_at text not null,
  updated_at text not null`

const stepColumns = `
  version integer not null,
  score_given real not null,
  score_maximum real not null,
  graded_at text not null,
  recorded_at text not null,
  recorded_by text not null,
  primary key (grade_id, version)`

/** A table of grades; what is in the trash refers to nothing. */
const newGrades = {
  grades: raw(`create table grades (
    id text not null, ${columns},
    primary key (user_id, course_id, source, item_id)
  ) strict, without rowid`),
  deleted_grades: raw(`create table deleted_grades (
    id text not null, ${columns.replaceAll(/ references .*(?=,)/g, '')},
    primary key (course_id, user_id, source, item_id)
  ) strict, without rowid`),
}

const afterwards = [
  sql`create unique index grades_by_id on grades (id)`,
  sql`create index grades_by_course on grades (course_id, created_at, id, item_id, source)`,
  sql`create index grades_by_created_at on grades (created_at, id)`,
  sql`create index grades_by_updated_at on grades (updated_at, id)`,
  sql`create index grades_by_graded_at on grades (graded_at, id)`,
  sql`create index grades_by_item on grades (item_id, created_at, id)`,
  sql`create index grades_by_source on grades (source, created_at, id)`,
  raw(`create table grade_steps (
    grade_id text not null references grades (id) on delete cascade, ${stepColumns}
  ) strict, without rowid`),
  raw(`create table deleted_grade_steps (
    grade_id text not null, ${stepColumns}
  ) strict, without rowid`),
]

/** Grades get ids, versions and a history; one without a weight counts as the course says. */
export async function addGradebook(database: Database, making: Making): Promise<void> {
  await database.run(sql`drop index grades_by_course`)
  for (const table of ['grades', 'deleted_grades'] as const) await renew(database, table, making)
  await define(database, afterwards)
}

interface Making {
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
}

async function renew(
  database: Database,
  table: keyof typeof newGrades,
  { now, newId }: Making,
): Promise<void> {
  await define(database, [sql`alter table ${raw(table)} rename to old_grades`, newGrades[table]])
  for (let after: OldGrade | undefined; ; ) {
    const rows = await oldGrades(database, after)
    after = rows.at(-1)
    if (!after) break
    const values = rows.map(
      (
        row,
      ) => sql`(${newId('grd')}, ${row.user_id}, ${row.course_id}, ${row.source}, ${row.item_id}, ${row.label},
        ${row.score_given}, ${row.score_maximum}, ${row.weight}, ${row.graded_at}, 1, ${now}, ${now})`,
    )
    await database.run(sql`
      insert into ${raw(table)} (id, user_id, course_id, source, item_id, label, score_given, score_maximum, weight,
                                 graded_at, version, created_at, updated_at)
      values ${join(values)}`)
  }
  await define(database, [sql`drop table old_grades`])
}

/**
 * Grades may be cleared or not published yet, and tell the delivery that they came with. Columns are added, not changed:
 * a cleared grade keeps a number in `score_given`, and no row has to be written again.
 */
export async function addGradeStates(database: Database): Promise<void> {
  for (const table of ['grades', 'deleted_grades', 'grade_steps', 'deleted_grade_steps']) {
    await define(database, [
      sql`alter table ${raw(table)} add column cleared integer not null default 0`,
      sql`alter table ${raw(table)} add column published integer not null default 1`,
      sql`alter table ${raw(table)} add column delivery_id text`,
    ])
  }
}

function oldGrades(database: Database, after: OldGrade | undefined): Promise<OldGrade[]> {
  const from = after
    ? sql`where (user_id, course_id, source, item_id)
        > (${after.user_id}, ${after.course_id}, ${after.source}, ${after.item_id})`
    : sql`where user_id >= ''`
  return database.all<OldGrade>(sql`
    select user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at from old_grades
    ${from} order by user_id, course_id, source, item_id limit ${atOnce}`)
}

/** Indexes that find the newest grade of an item in a course. */
export const gradesByItem = [
  sql`create index grades_by_course_item on grades (course_id, item_id, created_at)`,
]
