import sql from 'sql-template-tag'

/**
 * The tables of version 1. Text, integer and real columns only; times are ISO 8601 text in UTC, so that they sort
 * as text; nested attributes are JSON text.
 */
export const schema = [
  sql`create table settings (name text primary key, value text not null) strict`,

  sql`create table users (
    id text primary key,
    external_id text unique,
    email text not null,
    email_key text not null unique,
    username text unique,
    role text not null,
    status text not null,
    profile text not null,
    password_hash text,
    managed_by text,
    version integer not null,
    created_at text not null,
    updated_at text not null
  ) strict`,
  sql`create index users_by_email on users (email)`,
  sql`create index users_by_created_at on users (created_at, id)`,

  sql`create table api_keys (
    id text primary key,
    user_id text not null references users (id),
    name text not null,
    hash text not null unique,
    last4 text not null,
    scopes text not null,
    expires_at text,
    created_at text not null,
    last_used_at text,
    revoked_at text
  ) strict`,

  sql`create table courses (
    id text primary key,
    external_id text unique,
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
    archived_at text
  ) strict`,
  sql`create index courses_by_created_at on courses (created_at, id)`,

  sql`create table course_versions (
    course_id text not null references courses (id) on delete cascade,
    version integer not null,
    attributes text not null,
    modified_attributes text not null,
    user_id text not null,
    created_at text not null,
    primary key (course_id, version)
  ) strict`,

  sql`create table lessons (
    id text primary key,
    external_id text unique,
    course_id text not null references courses (id) on delete cascade,
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
    updated_at text not null
  ) strict`,
  sql`create index lessons_by_course on lessons (course_id, position)`,

  sql`create table enrollments (
    id text primary key,
    course_id text not null references courses (id) on delete cascade,
    user_id text not null references users (id),
    role text not null,
    status text not null,
    enrolled_at text not null,
    completed_at text,
    source text not null,
    managed_by text,
    version integer not null,
    created_at text not null,
    updated_at text not null,
    unique (user_id, course_id, role)
  ) strict`,
  sql`create index enrollments_by_course on enrollments (course_id, user_id)`,
  sql`create index enrollments_by_created_at on enrollments (created_at, id)`,

  sql`create table progress (
    user_id text not null references users (id),
    course_id text not null references courses (id) on delete cascade,
    percentage real not null,
    status text not null,
    started_at text,
    last_accessed text not null,
    completed_at text,
    version integer not null,
    updated_at text not null,
    primary key (user_id, course_id)
  ) strict, without rowid`,
  sql`create index progress_by_course on progress (course_id)`,

  sql`create table progress_steps (
    user_id text not null references users (id),
    course_id text not null references courses (id) on delete cascade,
    version integer not null,
    percentage real not null,
    status text not null,
    last_accessed text not null,
    recorded_at text not null,
    primary key (user_id, course_id, version)
  ) strict, without rowid`,

  sql`create table grades (
    user_id text not null references users (id),
    course_id text not null references courses (id) on delete cascade,
    source text not null,
    item_id text not null,
    label text not null,
    score_given real not null,
    score_maximum real not null,
    weight real not null,
    graded_at text not null,
    primary key (user_id, course_id, source, item_id)
  ) strict, without rowid`,

  sql`create table course_grades (
    user_id text not null references users (id),
    course_id text not null references courses (id) on delete cascade,
    percent real not null,
    updated_at text not null,
    primary key (user_id, course_id)
  ) strict, without rowid`,

  sql`create table idempotency (
    user_id text not null,
    method text not null,
    path text not null,
    key text not null,
    fingerprint text not null,
    status integer not null,
    headers text not null,
    body text,
    created_at text not null,
    primary key (user_id, method, path, key)
  ) strict, without rowid`,
  sql`create index idempotency_by_created_at on idempotency (created_at)`,
]
