import sql from 'sql-template-tag'

/** The columns of version 6 by which lists are sorted and searched. */
export const listColumns = [
  sql`alter table users add column search_key text not null default ''`,
  sql`alter table courses add column title_key text not null default ''`,
  sql`alter table courses add column search_key text not null default ''`,
  sql`alter table courses add column level integer not null default 0`,
  sql`alter table lessons add column title_key text not null default ''`,
  sql`create table course_tags (
    tag text not null,
    course_id text not null references courses (id) on delete cascade,
    primary key (tag, course_id)
  ) strict, without rowid`,
  sql`create index course_tags_by_course on course_tags (course_id)`,
]

/**
 * The indexes of version 6: for each sort of a list one that holds what is filtered by besides, so that rows that are
 * passed over are not read; for each filter that may leave few rows one that holds what is sorted by.
 */
export const listIndexes = [
  sql`drop index users_by_email`,
  sql`drop index users_by_created_at`,
  sql`create index users_by_email on users (email, id, status, role)`,
  sql`create index users_by_created_at on users (created_at, id, status, role)`,
  sql`create index users_by_updated_at on users (updated_at, id, status, role, created_at, email)`,
  sql`create index users_by_role on users (role, status, created_at, id, updated_at, email)`,
  sql`create index users_by_manager on users (managed_by, status, role, created_at, id, updated_at, email) where managed_by is not null`,

  sql`drop index courses_by_created_at`,
  sql`create index courses_by_created_at on courses (created_at, id, status, level)`,
  sql`create index courses_by_updated_at on courses (updated_at, id, status, level, created_at, title_key)`,
  sql`create index courses_by_title on courses (title_key, id, status, level)`,
  sql`create index courses_by_level on courses (level, id, status)`,
  sql`create index courses_by_manager on courses (managed_by, status, level, created_at, id, updated_at, title_key) where managed_by is not null`,

  sql`drop index lessons_by_course`,
  sql`create index lessons_by_course on lessons (course_id, position, id)`,
  sql`create index lessons_by_position on lessons (position, id, status)`,
  sql`create index lessons_by_created_at on lessons (created_at, id, status)`,
  sql`create index lessons_by_updated_at on lessons (updated_at, id, status)`,
  sql`create index lessons_by_title on lessons (title_key, id, status)`,
  sql`create index lessons_by_status on lessons (status, position, id, created_at, updated_at, title_key, course_id)`,
  sql`create index lessons_by_module on lessons (module_id) where module_id is not null`,

  sql`drop index enrollments_by_course`,
  sql`drop index enrollments_by_created_at`,
  sql`create index enrollments_by_created_at on enrollments (created_at, id, status, role)`,
  sql`create index enrollments_by_updated_at on enrollments (updated_at, id, status, role)`,
  sql`create index enrollments_by_enrolled_at on enrollments (enrolled_at, id, status, role)`,
  sql`create index enrollments_by_role on enrollments (role, status, created_at, id, updated_at, enrolled_at)`,
  sql`create index enrollments_by_course on enrollments
    (course_id, created_at, id, status, role, user_id, updated_at, enrolled_at)`,

  sql`drop index api_keys_by_user`,
  sql`create index api_keys_by_user on api_keys (user_id, created_at, id)`,
  sql`create index api_keys_by_created_at on api_keys (created_at, id)`,
  sql`create index oauth_clients_by_created_at on oauth_clients (created_at, id)`,
  sql`drop index grants_by_user`,
  sql`create index grants_by_user on grants (user_id, created_at, id)`,
]

/**
 * What leads from a row to those that go with it, where SQLite looks for them: at the deletion of a course, of an
 * application, or of a progress. Steps go with the progress that they led to, by the beginning of their own key.
 */
export const parentIndexes = [
  sql`create index grades_by_course on grades (course_id, user_id)`,
  sql`create index device_codes_by_client on device_codes (client_id)`,
  sql`create index device_codes_by_user on device_codes (user_id)`,
  sql`alter table progress_steps rename to old_progress_steps`,
  sql`create table progress_steps (
    user_id text not null,
    course_id text not null,
    version integer not null,
    percentage real not null,
    status text not null,
    last_accessed text not null,
    recorded_at text not null,
    primary key (user_id, course_id, version),
    foreign key (user_id, course_id) references progress (user_id, course_id) on delete cascade
  ) strict, without rowid`,
  sql`insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
    select user_id, course_id, version, percentage, status, last_accessed, recorded_at from old_progress_steps s
    where exists (select 1 from progress p where p.user_id = s.user_id and p.course_id = s.course_id)
    order by user_id, course_id, version`,
  sql`drop table old_progress_steps`,
]
