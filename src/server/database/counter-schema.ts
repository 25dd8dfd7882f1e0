import sql from 'sql-template-tag'

/**
 * How many learners stand where, kept by whatever changes it. `kind`, `course_id` and `place` say where; `amount` is a sum
 * of whole numbers, too large for an integer of every engine. `counter_changes` has the changes of engines with many
 * writers, until they are folded into `counters`.
 */
export const counterSchema = [
  sql`create table counters (
    kind text not null,
    course_id text not null,
    place integer not null,
    learners integer not null,
    amount real not null,
    primary key (kind, course_id, place)
  ) strict, without rowid`,

  sql`create table counter_changes (
    kind text not null,
    course_id text not null,
    place integer not null,
    learners integer not null,
    amount real not null
  ) strict`,
  sql`create index counter_changes_by_place on counter_changes (kind, course_id, place)`,

  // Since when the percentage has not risen, or null where nothing says so.
  sql`alter table progress add column risen_at text`,
  // A period in all courses is looked for course by course: a second index would cost every change of progress more.
  sql`create index progress_by_course_and_time on progress (course_id, last_accessed)`,
  sql`drop index progress_by_course`,
  sql`create index course_grades_by_course on course_grades (course_id, percent)`,
]
