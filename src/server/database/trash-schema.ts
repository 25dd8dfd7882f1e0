import sql from 'sql-template-tag'

/**
 * The versions of lessons, as those of courses; and the trash. What is deleted moves there as it was, so that nothing
 * that reads courses has to look whether one is deleted: `deletions` says what was deleted when, and each other table has
 * the columns of the one that it is named after, in the same order. Their keys begin with what is looked for.
 */
export const trashSchema = [
  sql`create table lesson_versions (
    lesson_id text not null references lessons (id) on delete cascade,
    version integer not null,
    external_id text,
    course_id text not null,
    module_id text,
    title text not null,
    description text not null,
    position integer not null,
    duration_minutes integer,
    status text not null,
    content text not null,
    managed_by text,
    modified_attributes text not null,
    user_id text,
    created_at text not null,
    primary key (lesson_id, version)
  ) strict`,
  // Who made the versions before is not known.
  sql`insert into lesson_versions
    select id, version, external_id, course_id, module_id, title, description, position, duration_minutes, status,
      content, managed_by, '[]', null, updated_at from lessons`,

  sql`create table deletions (
    id text primary key,
    kind text not null,
    course_id text not null,
    lessons integer not null,
    enrollments integer not null,
    progress integer not null,
    grades integer not null,
    user_id text not null,
    deleted_at text not null
  ) strict`,
  sql`create index deletions_by_time on deletions (deleted_at, id)`,
  sql`create index deletions_by_kind on deletions (kind, deleted_at, id)`,
  sql`create index deletions_by_course on deletions (course_id, kind, deleted_at, id)`,

  sql`create table deleted_courses (
    id text primary key,
    external_id text,
    title text not null,
    description text not null,
    difficulty text not null,
    status text not null,
    attributes text not null,
    managed_by text,
    version integer not null,
    created_at text not null,
    updated_at text not null,
    published_at text,
    archived_at text,
    title_key text not null,
    search_key text not null,
    level integer not null
  ) strict`,
  sql`create index deleted_courses_by_external_id on deleted_courses (external_id) where external_id is not null`,
  sql`create table deleted_course_versions (
    course_id text not null,
    version integer not null,
    attributes text not null,
    modified_attributes text not null,
    user_id text not null,
    created_at text not null,
    primary key (course_id, version)
  ) strict`,
  sql`create table deleted_course_tags (
    tag text not null,
    course_id text not null,
    primary key (course_id, tag)
  ) strict, without rowid`,
  sql`create table deleted_lessons (
    id text primary key,
    external_id text,
    course_id text not null,
    module_id text,
    title text not null,
    description text not null,
    position integer not null,
    duration_minutes integer,
    status text not null,
    content text not null,
    managed_by text,
    version integer not null,
    created_at text not null,
    updated_at text not null,
    title_key text not null
  ) strict`,
  sql`create index deleted_lessons_by_course on deleted_lessons (course_id, id)`,
  sql`create index deleted_lessons_by_external_id on deleted_lessons (external_id) where external_id is not null`,
  sql`create table deleted_lesson_versions (
    lesson_id text not null,
    version integer not null,
    external_id text,
    course_id text not null,
    module_id text,
    title text not null,
    description text not null,
    position integer not null,
    duration_minutes integer,
    status text not null,
    content text not null,
    managed_by text,
    modified_attributes text not null,
    user_id text,
    created_at text not null,
    primary key (lesson_id, version)
  ) strict`,
  sql`create table deleted_enrollments (
    id text not null,
    course_id text not null,
    user_id text not null,
    role text not null,
    status text not null,
    enrolled_at text not null,
    completed_at text,
    source text not null,
    managed_by text,
    version integer not null,
    created_at text not null,
    updated_at text not null,
    primary key (course_id, id)
  ) strict`,
  sql`create table deleted_progress (
    user_id text not null,
    course_id text not null,
    percentage real not null,
    status text not null,
    started_at text,
    last_accessed text not null,
    completed_at text,
    version integer not null,
    updated_at text not null,
    risen_at text,
    primary key (course_id, user_id)
  ) strict, without rowid`,
  sql`create table deleted_progress_steps (
    user_id text not null,
    course_id text not null,
    version integer not null,
    percentage real not null,
    status text not null,
    last_accessed text not null,
    recorded_at text not null,
    primary key (course_id, user_id, version)
  ) strict, without rowid`,
  sql`create table deleted_grades (
    user_id text not null,
    course_id text not null,
    source text not null,
    item_id text not null,
    label text not null,
    score_given real not null,
    score_maximum real not null,
    weight real not null,
    graded_at text not null,
    primary key (course_id, user_id, source, item_id)
  ) strict, without rowid`,
  sql`create table deleted_course_grades (
    user_id text not null,
    course_id text not null,
    percent real not null,
    updated_at text not null,
    primary key (course_id, user_id)
  ) strict, without rowid`,
]
