import { DatabaseSync } from 'node:sqlite'
import { newHmacKey } from '../../src/server/access/secret.ts'
import { searched } from '../../src/server/database/database.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { schemaSteps, stepsFrom } from '../../src/server/database/schema/steps.ts'
import { courseSearchKey, titleKey, userSearchKey } from '../../src/server/database/search.ts'
import { makeFile, migrate } from '../../src/server/database/sqlite/academy-file.ts'
import { openSqlite } from '../../src/server/database/sqlite/sqlite.ts'
import { attributes } from './seed.ts'

/** Size of an academy; each learner has `enrollments / users` enrolments. */
export interface Size {
  readonly users: number
  readonly courses: number
  readonly enrollments: number
}

/** Sizes at which growth is measured. */
export const sizes = {
  S: { users: 1_000, courses: 20, enrollments: 10_000 },
  M: { users: 100_000, courses: 500, enrollments: 1_000_000 },
  L: { users: 1_000_000, courses: 2_000, enrollments: 5_000_000 },
} as const satisfies Readonly<Record<string, Size>>

/** 1 January 2023, in milliseconds. */
const firstMs = 1_672_531_200_000

/** Courses with every tenth learner, at any size. */
const largeCourses = 10

const names = [
  ['Ada', 'Lovelace'],
  ['Zoë', 'Müller'],
  ['Łukasz', 'Żółć'],
  ['Ngọc', 'Nguyễn'],
  ['伟', '王'],
  ['秀英', '李'],
  ['さくら', '佐藤'],
  ['민준', '김'],
  ['Анна', 'Иванова'],
  ['Ελένη', 'Παπαδοπούλου'],
  ['محمد', 'الأحمد'],
  ['आरव', 'शर्मा'],
] as const

/** Tables whose indexes are made after all rows, which is faster. */
const largeTables = ['enrollments', 'progress', 'course_grades']

/**
 * Makes an academy of this size in a file: learners of many scripts, twenty admins, some suspended or deleted users,
 * enrolments with progress, its steps and grades, lessons and the versions of courses. The same every time, except for
 * the id of the first admin.
 */
export async function makeAcademyOf(size: Size, path: string): Promise<void> {
  const now = new Date(firstMs)
  const made = { now: now.toISOString(), newId: idMaker(() => now), newSecret: newHmacKey }
  await makeFile(path, (database, draft) =>
    migrate(database, draft, async (version, path) => stepsFrom(version, schemaSteps(made), path)),
  )
  fill(new DatabaseSync(path), size)
  const store = openSqlite(path)
  await store.emptyLog()
  await store.close()
}

function fill(database: DatabaseSync, size: Size): void {
  database.function('title_key', (title) => titleKey({ title: String(title) }))
  database.function('course_key', (title, description) =>
    courseSearchKey({ title: String(title), description: String(description) }),
  )
  database.function('user_key', (email, username, profile) =>
    userSearchKey({
      email: String(email),
      username: username === null ? null : String(username),
      profile: JSON.parse(String(profile)) as object,
    }),
  )
  database.exec('pragma synchronous = off; pragma cache_size = -1000000; pragma temp_store = file; begin')
  database.exec('create temp table names (i integer primary key, first text, last text)')
  const insert = database.prepare('insert into names values (?, ?, ?)')
  names.forEach(([first, last], index) => {
    insert.run(index, first, last)
  })
  const indexes = database
    .prepare(
      `select name, sql from sqlite_schema where type = 'index' and sql is not null
        and tbl_name in (${largeTables.map((name) => `'${name}'`).join()})`,
    )
    .all()
  for (const { name } of indexes) database.exec(`drop index ${name}`)
  for (const statement of statements(size)) database.exec(statement)
  for (const table of searched) {
    database.exec(`update ${table} set search_number = rowid;
      insert into ${table}_search (rowid, text) select search_number, search_key from ${table}`)
  }
  for (const { sql } of indexes) database.exec(String(sql))
  database.exec('commit; pragma wal_checkpoint(truncate)')
  database.close()
}

/** Returns SQL for `count` rows `n.i` from 0, with a number `n.h` that looks random. */
function numbers(count: number): string {
  return `with recursive c(i) as (select 0 union all select i + 1 from c where i < ${count - 1}),
    n(i, h) as (select i, (i * 2654435761 + 12345) % 4294967291 from c)`
}

/** Returns SQL for an id like the server's: sortable by time, with a random end. */
const id = (prefix: string, i = 'n.i', h = 'n.h') =>
  `'${prefix}_' || printf('%09x', 500000000 + ${i}) || printf('%020x', ${h})`

/** Returns SQL for the time this many seconds after the first day. */
const time = (seconds: string) =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', ${firstMs / 1000} + ${seconds}, 'unixepoch')`

/** Three years in seconds. */
const span = 94_608_000

function statements({ users, courses, enrollments }: Size): string[] {
  const created = (count: number) => `(n.i * ${(span / count).toFixed(6)})`
  const later = (count: number) => `min(${span}, ${created(count)} + n.h % 9000000)`
  const each = Math.floor(enrollments / users)
  return [
    `${numbers(courses)}
    insert into courses (id, external_id, title, description, difficulty, status, attributes, managed_by, version,
                         created_at, updated_at, published_at, archived_at, level)
    select ${id('crs')}, case when n.i % 3 = 0 then 'C-' || n.i end,
      case n.i % 4 when 0 then 'Biology ' when 1 then 'éducation ' when 2 then '数学 ' else 'Physics ' end || n.i,
      'What course ' || n.i || ' is about, in some more words than its title has',
      case n.h % 4 when 0 then 'beginner' when 1 then 'intermediate' when 2 then 'advanced' else 'expert' end,
      case n.i % 10 when 8 then 'draft' when 9 then 'archived' else 'published' end,
      replace('${attributes}', '"tags":[]', '"tags":["everyone","tag-' || (n.i % 50) || '"]'),
      case when n.i % 100 = 7 then 'sis' end, 1, ${time(created(courses))}, ${time(later(courses))},
      case when n.i % 10 <> 8 then ${time(created(courses))} end, case when n.i % 10 = 9 then ${time(later(courses))} end,
      min(n.h % 4, 3)
    from n`,
    `update courses set title_key = title_key(title), search_key = course_key(title, description),
      passing_score = attributes -> 'assessmentCriteria' ->> 'passingScore'`,
    `insert into course_tags (tag, course_id)
    select t.value, c.id from courses c cross join json_each(c.attributes, '$.tags') t order by 1, 2`,
    `insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
    select id, 1, attributes, '[]', (select id from users limit 1), created_at from courses`,
    `${numbers(courses * 10)}
    insert into lessons (id, external_id, course_id, module_id, title, description, position, status, content, version,
                         created_at, updated_at)
    select ${id('les')}, case when n.i % 3 = 0 then 'L-' || n.i end, ${id('crs', 'n.i / 10', '(n.i / 10 * 2654435761 + 12345) % 4294967291')},
      null, 'Lesson ' || n.i, 'About', n.i % 10 + 1, case when n.i % 10 = 9 then 'draft' else 'published' end,
      '{"learningObjectives":[],"contentBlocks":[],"assessments":[]}', 1, ${time(created(courses * 10))},
      ${time(later(courses * 10))}
    from n`,
    'update lessons set title_key = title_key(title)',
    `insert into lesson_versions
    select id, version, external_id, course_id, module_id, title, description, position, duration_minutes, status,
      content, managed_by, '[]', null, updated_at, due_at from lessons`,
    `${numbers(users)}
    insert into users (id, external_id, email, email_key, username, role, status, profile, managed_by, version,
                       created_at, updated_at)
    select ${id('usr')}, case when n.i % 2 = 0 then 'S-' || printf('%07d', n.i) end,
      'Learner' || n.i || '@' || case n.h % 3 when 0 then 'example.org' when 1 then 'school.example' else 'uni.example' end,
      'learner' || n.i || '@' || case n.h % 3 when 0 then 'example.org' when 1 then 'school.example' else 'uni.example' end,
      case when n.i % 5 = 0 then 'learner.' || n.i end,
      case when n.i % ${Math.floor(users / 19)} = 1 then 'admin' when n.h % 500 = 1 then 'instructor'
        when n.h % 5000 = 2 then 'analyst' else 'learner' end,
      case when n.h % 100 = 3 then 'suspended' when n.h % 50 = 4 then 'deleted' else 'active' end,
      json_object('firstName', names.first, 'lastName', names.last || ' ' || (n.h % 10007)),
      case when n.i % 1000 = 7 then 'sis' end, 1, ${time(created(users))}, ${time(later(users))}
    from n join names on names.i = n.h % ${names.length}`,
    'update users set search_key = user_key(email, username, profile)',
    `create temp table learners as select row_number() over (order by id) - 1 as i, id from users where id <> (select id from users order by rowid limit 1)`,
    'create unique index temp.learners_by_i on learners (i)',
    `create temp table places as select row_number() over (order by id) - 1 as i, id from courses`,
    'create unique index temp.places_by_i on places (i)',
    `${numbers(enrollments)}
    insert into enrollments (id, course_id, user_id, role, status, enrolled_at, completed_at, source, managed_by, version,
                             created_at, updated_at)
    select ${id('enr')}, p.id, u.id, case when n.h % 1000 = 5 then 'instructor' else 'learner' end,
      case when n.h % 40 = 6 then 'deleted' when n.h % 25 = 7 then 'inactive' when n.h % 4 = 3 then 'completed' else 'active' end,
      ${time(`(${created(enrollments)} - case when n.h % 10 = 0 then 86400 else 0 end)`)},
      case when n.h % 4 = 3 and n.h % 40 <> 6 and n.h % 25 <> 7 then ${time(later(enrollments))} end,
      case when n.h % 9 = 0 then 'progress' else 'api' end, case when n.h % 1000 = 9 then 'sis' end, 1,
      ${time(created(enrollments))}, ${time(later(enrollments))}
    from n
    cross join learners u on u.i = (n.i * 7919) % ${users}
    cross join places p on p.i = case when n.i / ${users} = 0 then n.i % ${largeCourses}
      else ${largeCourses} + ((n.i * 7919) % ${users} * 31 + (n.i / ${users} - 1) * 397) % ${courses - largeCourses} end
    where n.i < ${each * users}`,
    `insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, completed_at, version, updated_at,
                          risen_at)
    select e.user_id, e.course_id, p.percentage,
      case when p.percentage = 100 then 'completed' else 'in_progress' end,
      e.enrolled_at, max(e.updated_at, e.enrolled_at), case when p.percentage = 100 then e.updated_at end, 2, e.updated_at,
      case when p.percentage < 50 then max(e.updated_at, e.enrolled_at) end
    from (select user_id, course_id, enrolled_at, updated_at, status, rowid * 2654435761 % 4294967291 as h
      from enrollments where role = 'learner' order by user_id, course_id) e
    join (select 0 as at, 0 as percentage union all select 1, 12.5 union all select 2, 25 union all select 3, 33.33
      union all select 4, 50 union all select 5, 66.67 union all select 6, 75 union all select 7, 95.8
      union all select 8, 40) p on p.at = e.h % 9 and e.status <> 'completed'
    where e.h % 7 <> 0`,
    `insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, completed_at, version, updated_at)
    select user_id, course_id, 100, 'completed', enrolled_at, max(updated_at, enrolled_at), updated_at, 2, updated_at
    from enrollments where role = 'learner' and status = 'completed' order by user_id, course_id`,
    `insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
    select user_id, course_id, v.version, percentage * v.version / 2,
      case when v.version = 2 then status else 'in_progress' end,
      case v.version when 1 then started_at else last_accessed end, case v.version when 1 then started_at else updated_at end
    from progress cross join (select 1 as version union all select 2) v order by user_id, course_id, v.version`,
    `insert into course_grades (user_id, course_id, percent, updated_at)
    select user_id, course_id, 40 + (length(last_accessed) + percentage * 37) % 61, updated_at
    from progress where percentage > 0 and percentage not in (25, 50) order by user_id, course_id`,
  ]
}
