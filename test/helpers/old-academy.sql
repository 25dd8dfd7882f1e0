create table settings (name text primary key, value text not null) strict;
create table users (
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
  , search_key text not null default '') strict;
create table api_keys (
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
  ) strict;
create table courses (
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
  , title_key text not null default '', search_key text not null default '', level integer not null default 0) strict;
create table course_versions (
  course_id text not null references courses (id) on delete cascade,
  version integer not null,
  attributes text not null,
  modified_attributes text not null,
  user_id text not null,
  created_at text not null,
  primary key (course_id, version)
  ) strict;
create table lessons (
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
  , title_key text not null default '') strict;
create table enrollments (
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
  ) strict;
create table progress (
  user_id text not null references users (id),
  course_id text not null references courses (id) on delete cascade,
  percentage real not null,
  status text not null,
  started_at text,
  last_accessed text not null,
  completed_at text,
  version integer not null,
  updated_at text not null, risen_at text,
  primary key (user_id, course_id)
  ) strict, without rowid;
create table course_grades (
  user_id text not null references users (id),
  course_id text not null references courses (id) on delete cascade,
  percent real not null,
  updated_at text not null,
  primary key (user_id, course_id)
  ) strict, without rowid;
create table idempotency (
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
  ) strict, without rowid;
create index idempotency_by_created_at on idempotency (created_at);
create table oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text not null,
  is_public integer not null,
  secret_hash text,
  created_at text not null
  ) strict;
create table grants (
  id text primary key,
  client_id text not null references oauth_clients (id) on delete cascade,
  user_id text not null references users (id),
  scopes text not null,
  created_at text not null,
  expires_at text not null,
  last_used_at text,
  revoked_at text
  ) strict;
create index grants_by_client on grants (client_id);
create index grants_by_expires_at on grants (expires_at);
create table authorization_codes (
  hash text primary key,
  client_id text not null references oauth_clients (id) on delete cascade,
  user_id text not null references users (id),
  redirect_uri text not null,
  scopes text not null,
  code_challenge text,
  expires_at text not null,
  grant_id text references grants (id) on delete cascade
  ) strict, without rowid;
create index authorization_codes_by_expires_at on authorization_codes (expires_at) where grant_id is null;
create index authorization_codes_by_grant on authorization_codes (grant_id);
create index authorization_codes_by_client on authorization_codes (client_id);
create index authorization_codes_by_user on authorization_codes (user_id);
create table access_tokens (
  hash text primary key,
  grant_id text not null references grants (id) on delete cascade,
  scopes text not null,
  expires_at text not null
  ) strict, without rowid;
create index access_tokens_by_expires_at on access_tokens (expires_at);
create index access_tokens_by_grant on access_tokens (grant_id);
create table refresh_tokens (
  hash text primary key,
  grant_id text not null references grants (id) on delete cascade,
  expires_at text not null,
  used_at text
  , successor text) strict, without rowid;
create index refresh_tokens_by_grant on refresh_tokens (grant_id);
create table device_codes (
  hash text primary key,
  user_code_hash text not null unique,
  client_id text not null references oauth_clients (id) on delete cascade,
  scopes text not null,
  expires_at text not null,
  interval_seconds integer not null,
  polled_at text,
  user_id text references users (id),
  decision text
  ) strict, without rowid;
create index device_codes_by_expires_at on device_codes (expires_at);
create table browser_sessions (
  hash text primary key,
  user_id text not null references users (id),
  wrong_codes integer not null default 0,
  created_at text not null,
  expires_at text not null
  , id text not null default '', browser text not null default '', place text not null default '') strict, without rowid;
create index browser_sessions_by_expires_at on browser_sessions (expires_at);
create index browser_sessions_by_user on browser_sessions (user_id, created_at);
create table counters (
  kind text not null,
  course_id text not null,
  place integer not null,
  learners integer not null,
  amount real not null,
  primary key (kind, course_id, place)
  ) strict, without rowid;
create table counter_changes (
  kind text not null,
  course_id text not null,
  place integer not null,
  learners integer not null,
  amount real not null
  ) strict;
create index counter_changes_by_place on counter_changes (kind, course_id, place);
create index progress_by_course_and_time on progress (course_id, last_accessed);
create index course_grades_by_course on course_grades (course_id, percent);
create table course_tags (
  tag text not null,
  course_id text not null references courses (id) on delete cascade,
  primary key (tag, course_id)
  ) strict, without rowid;
create index course_tags_by_course on course_tags (course_id);
create index users_by_email on users (email, id, status, role);
create index users_by_created_at on users (created_at, id, status, role);
create index users_by_updated_at on users (updated_at, id, status, role, created_at, email);
create index users_by_role on users (role, status, created_at, id, updated_at, email);
create index users_by_manager on users (managed_by, status, role, created_at, id, updated_at, email) where managed_by is not null;
create index courses_by_created_at on courses (created_at, id, status, level);
create index courses_by_updated_at on courses (updated_at, id, status, level, created_at, title_key);
create index courses_by_title on courses (title_key, id, status, level);
create index courses_by_level on courses (level, id, status);
create index courses_by_manager on courses (managed_by, status, level, created_at, id, updated_at, title_key) where managed_by is not null;
create index lessons_by_course on lessons (course_id, position, id);
create index lessons_by_position on lessons (position, id, status);
create index lessons_by_created_at on lessons (created_at, id, status);
create index lessons_by_updated_at on lessons (updated_at, id, status);
create index lessons_by_title on lessons (title_key, id, status);
create index lessons_by_status on lessons (status, position, id, created_at, updated_at, title_key, course_id);
create index lessons_by_module on lessons (module_id) where module_id is not null;
create index enrollments_by_created_at on enrollments (created_at, id, status, role);
create index enrollments_by_updated_at on enrollments (updated_at, id, status, role);
create index enrollments_by_enrolled_at on enrollments (enrolled_at, id, status, role);
create index enrollments_by_role on enrollments (role, status, created_at, id, updated_at, enrolled_at);
create index enrollments_by_course on enrollments
  (course_id, created_at, id, status, role, user_id, updated_at, enrolled_at);
create index api_keys_by_user on api_keys (user_id, created_at, id);
create index api_keys_by_created_at on api_keys (created_at, id);
create index oauth_clients_by_created_at on oauth_clients (created_at, id);
create index grants_by_user on grants (user_id, created_at, id);
create table users_numbers (number integer primary key autoincrement, id text not null unique) strict;
create virtual table users_search using fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1');
create trigger users_search_insert after insert on users begin
  insert into users_numbers (id) values (new.id);
  end;
create trigger users_search_gather after insert on users_numbers when new.number % 64 = 0 begin
  insert into users_search (rowid, text)
  select n.number, t.search_key from users_numbers n join users t on t.id = n.id where n.number > new.number - 64 and n.number <= new.number order by n.number;
  end;
create trigger users_search_update after update of search_key on users
  when old.search_key <> new.search_key begin
  insert into users_search (users_search, rowid, text)
  select 'delete', number, old.search_key from users_numbers where id = old.id and number <= (select seq - seq % 64 from sqlite_sequence where name = 'users_numbers');
  insert into users_search (rowid, text)
  select number, new.search_key from users_numbers where id = new.id and number <= (select seq - seq % 64 from sqlite_sequence where name = 'users_numbers');
  end;
create trigger users_search_delete after delete on users begin
  insert into users_search (users_search, rowid, text)
  select 'delete', number, old.search_key from users_numbers where id = old.id and number <= (select seq - seq % 64 from sqlite_sequence where name = 'users_numbers');
  delete from users_numbers where id = old.id;
  end;
create table courses_numbers (number integer primary key autoincrement, id text not null unique) strict;
create virtual table courses_search using fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1');
create trigger courses_search_insert after insert on courses begin
  insert into courses_numbers (id) values (new.id);
  end;
create trigger courses_search_gather after insert on courses_numbers when new.number % 64 = 0 begin
  insert into courses_search (rowid, text)
  select n.number, t.search_key from courses_numbers n join courses t on t.id = n.id where n.number > new.number - 64 and n.number <= new.number order by n.number;
  end;
create trigger courses_search_update after update of search_key on courses
  when old.search_key <> new.search_key begin
  insert into courses_search (courses_search, rowid, text)
  select 'delete', number, old.search_key from courses_numbers where id = old.id and number <= (select seq - seq % 64 from sqlite_sequence where name = 'courses_numbers');
  insert into courses_search (rowid, text)
  select number, new.search_key from courses_numbers where id = new.id and number <= (select seq - seq % 64 from sqlite_sequence where name = 'courses_numbers');
  end;
create trigger courses_search_delete after delete on courses begin
  insert into courses_search (courses_search, rowid, text)
  select 'delete', number, old.search_key from courses_numbers where id = old.id and number <= (select seq - seq % 64 from sqlite_sequence where name = 'courses_numbers');
  delete from courses_numbers where id = old.id;
  end;
create index device_codes_by_client on device_codes (client_id);
create index device_codes_by_user on device_codes (user_id);
create table progress_steps (
  user_id text not null,
  course_id text not null,
  version integer not null,
  percentage real not null,
  status text not null,
  last_accessed text not null,
  recorded_at text not null,
  primary key (user_id, course_id, version),
  foreign key (user_id, course_id) references progress (user_id, course_id) on delete cascade
  ) strict, without rowid;
create table attempts (
  slot integer primary key,
  name text not null,
  failures integer not null,
  next_at text not null
  ) strict;
create index attempts_by_next_at on attempts (next_at);
create table lesson_versions (
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
  ) strict;
create table deletions (
  id text primary key,
  kind text not null,
  course_id text not null,
  lessons integer not null,
  enrollments integer not null,
  progress integer not null,
  grades integer not null,
  user_id text not null,
  deleted_at text not null
  ) strict;
create index deletions_by_time on deletions (deleted_at, id);
create index deletions_by_kind on deletions (kind, deleted_at, id);
create index deletions_by_course on deletions (course_id, kind, deleted_at, id);
create table deleted_courses (
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
  ) strict;
create index deleted_courses_by_external_id on deleted_courses (external_id) where external_id is not null;
create table deleted_course_versions (
  course_id text not null,
  version integer not null,
  attributes text not null,
  modified_attributes text not null,
  user_id text not null,
  created_at text not null,
  primary key (course_id, version)
  ) strict;
create table deleted_course_tags (
  tag text not null,
  course_id text not null,
  primary key (course_id, tag)
  ) strict, without rowid;
create table deleted_lessons (
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
  ) strict;
create index deleted_lessons_by_course on deleted_lessons (course_id, id);
create index deleted_lessons_by_external_id on deleted_lessons (external_id) where external_id is not null;
create table deleted_lesson_versions (
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
  ) strict;
create table deleted_enrollments (
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
  ) strict;
create table deleted_progress (
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
  ) strict, without rowid;
create table deleted_progress_steps (
  user_id text not null,
  course_id text not null,
  version integer not null,
  percentage real not null,
  status text not null,
  last_accessed text not null,
  recorded_at text not null,
  primary key (course_id, user_id, version)
  ) strict, without rowid;
create table deleted_course_grades (
  user_id text not null,
  course_id text not null,
  percent real not null,
  updated_at text not null,
  primary key (course_id, user_id)
  ) strict, without rowid;
create table grades (
  id text not null, 
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
  updated_at text not null, cleared integer not null default 0, published integer not null default 1, delivery_id text,
  primary key (user_id, course_id, source, item_id)
  ) strict, without rowid;
create table deleted_grades (
  id text not null, 
  user_id text not null,
  course_id text not null,
  source text not null,
  item_id text not null,
  label text not null,
  score_given real not null,
  score_maximum real not null,
  weight real,
  graded_at text not null,
  version integer not null,
  created_at text not null,
  updated_at text not null, cleared integer not null default 0, published integer not null default 1, delivery_id text,
  primary key (course_id, user_id, source, item_id)
  ) strict, without rowid;
create unique index grades_by_id on grades (id);
create index grades_by_course on grades (course_id, created_at, id, item_id, source);
create index grades_by_created_at on grades (created_at, id);
create index grades_by_updated_at on grades (updated_at, id);
create index grades_by_graded_at on grades (graded_at, id);
create index grades_by_item on grades (item_id, created_at, id);
create index grades_by_source on grades (source, created_at, id);
create table grade_steps (
  grade_id text not null references grades (id) on delete cascade, 
  version integer not null,
  score_given real not null,
  score_maximum real not null,
  graded_at text not null,
  recorded_at text not null,
  recorded_by text not null, cleared integer not null default 0, published integer not null default 1, delivery_id text,
  primary key (grade_id, version)
  ) strict, without rowid;
create table deleted_grade_steps (
  grade_id text not null, 
  version integer not null,
  score_given real not null,
  score_maximum real not null,
  graded_at text not null,
  recorded_at text not null,
  recorded_by text not null, cleared integer not null default 0, published integer not null default 1, delivery_id text,
  primary key (grade_id, version)
  ) strict, without rowid;
create table integrations (
  lms_kind text primary key,
  base_url text,
  access_token text,
  access_token_set_at text,
  access_token_last4 text,
  webhook_secrets text not null,
  root_account_uuid text,
  jwks_url text,
  jwks text,
  grade_to_progress text not null,
  grade_items text not null,
  default_grade_maximum real not null,
  version integer not null,
  created_at text not null,
  updated_at text not null
  ) strict;
create table integration_mappings (
  id text not null,
  lms_kind text not null,
  noun text not null,
  external_key text not null,
  target_id text not null,
  version integer not null,
  created_at text not null,
  updated_at text not null,
  primary key (lms_kind, noun, external_key)
  ) strict;
create unique index integration_mappings_by_id on integration_mappings (id);
create index integration_mappings_by_time on integration_mappings (lms_kind, created_at, id);
create index integration_mappings_by_noun on integration_mappings (lms_kind, noun, created_at, id);
create index integration_mappings_by_target on integration_mappings (target_id, lms_kind, created_at, id);
create table audit_entries (
  place integer primary key,
  id text not null unique,
  user_id text,
  credential text,
  action text not null,
  subject_id text,
  about_id text,
  origin text,
  origin_digest text not null,
  details text,
  details_digest text not null,
  hash text
  ) strict;
create index audit_entries_by_user on audit_entries (user_id, id);
create index audit_entries_by_credential on audit_entries (credential, id);
create index audit_entries_by_action on audit_entries (action, id);
create index audit_entries_by_subject on audit_entries (subject_id, id);
create index audit_entries_by_about on audit_entries (about_id) where about_id is not null;
create table webhook_endpoints (
  id text primary key not null,
  url text not null,
  events text not null,
  description text not null,
  status text not null,
  disabled_reason text,
  expires_at text,
  paused_until text,
  secret text not null,
  previous_secret text,
  previous_secret_until text,
  mark text not null,
  version integer not null,
  created_at text not null,
  updated_at text not null,
  deleted_at text
  ) strict, without rowid;
create unique index webhook_endpoints_by_mark on webhook_endpoints (mark);
create index webhook_endpoints_by_created_at on webhook_endpoints (created_at, id);
create table webhook_subscriptions (
  pattern text not null,
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  mark text not null,
  primary key (pattern, endpoint_id)
  ) strict, without rowid;
create index webhook_subscriptions_by_endpoint on webhook_subscriptions (endpoint_id);
create table webhook_messages (
  id text primary key not null,
  endpoint_id text not null,
  type text not null,
  subject text not null,
  body text not null,
  status text not null,
  step integer not null,
  attempt_count integer not null,
  last_result text,
  due_at text,
  lease text,
  created_at text not null,
  finished_at text
  ) strict, without rowid;
create table webhook_attempts (
  message_id text not null references webhook_messages (id) on delete cascade,
  number integer not null,
  started_at text not null,
  duration_ms integer not null,
  status integer,
  result text not null,
  response text not null,
  primary key (message_id, number)
  ) strict, without rowid;
create table webhook_deliveries (
  id text primary key,
  lms_kind text not null,
  delivery_key text not null,
  event text not null,
  status text not null,
  reason text,
  detail text,
  missing text not null,
  user_id text,
  course_id text,
  item_id text,
  grade_id text,
  learner_hint text,
  body text,
  replays integer not null,
  received_at text not null,
  processed_at text not null,
  unique (lms_kind, delivery_key)
  ) strict;
create index webhook_deliveries_by_time on webhook_deliveries (received_at, id, lms_kind, status);
create index webhook_deliveries_waiting on webhook_deliveries (lms_kind, received_at, id) where status = 'unmatched';
create index webhook_deliveries_by_user on webhook_deliveries (user_id) where user_id is not null;
create index webhook_deliveries_by_hint on webhook_deliveries (learner_hint) where learner_hint is not null;
create unique index webhook_messages_by_endpoint on webhook_messages (endpoint_id, id);
create index webhook_messages_due on webhook_messages (endpoint_id, due_at, id, subject, step)
  where due_at is not null;
create index webhook_messages_by_subject on webhook_messages (subject, endpoint_id, status, id, step)
  where lease is not null or step > 0 or due_at is null;
insert into users_search (users_search, rank) values ('secure-delete', 1);
insert into courses_search (courses_search, rank) values ('secure-delete', 1);
insert into settings (name, value)
  values ('hmac_key', '5IMFpNO_JXQrEB5IJF2weWSPeqQfG0ymKqqOMgK1MBM');
insert into settings (name, value)
  values ('first_user', 'usr_0mm7p6yo000000000000100000000');
insert into settings (name, value)
  values ('sealing_key', 'f9f2d4c818882629');
insert into users (id, external_id, email, email_key, username, role, status, profile, password_hash, managed_by, version, created_at, updated_at, search_key)
  values ('usr_0mm7p6yo000000000000100000000', null, 'admin@academy.local', 'admin@academy.local', null, 'admin', 'active', '{}', null, null, 1, '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', 'admin@academy.local');
insert into users (id, external_id, email, email_key, username, role, status, profile, password_hash, managed_by, version, created_at, updated_at, search_key)
  values ('usr_0mm7p6yo062701b91098ecdfe1e7a', null, 'admin-1@school.example', 'admin-1@school.example', null, 'admin', 'active', '{"firstName":null,"lastName":null,"displayName":null,"timezone":null,"locale":null,"avatarUrl":null,"bio":null,"learningPreferences":{"languages":[],"preferredDifficulty":null,"pace":null,"contentFormats":[],"weeklyGoalMinutes":null,"audio":null,"captions":null,"deliverySpeed":null,"accessibility":{"highContrast":false,"screenReader":false,"reducedMotion":false},"notifications":{"email":true,"push":false}}}', null, null, 1, '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', 'admin-1@school.example');
insert into users (id, external_id, email, email_key, username, role, status, profile, password_hash, managed_by, version, created_at, updated_at, search_key)
  values ('usr_0mm7p9j9c290b660e868a39c7a273', '28400', 'oulad-28400@example.org', 'oulad-28400@example.org', null, 'learner', 'active', '{"firstName":null,"lastName":null,"displayName":null,"timezone":null,"locale":null,"avatarUrl":null,"bio":null,"learningPreferences":{"languages":[],"preferredDifficulty":null,"pace":null,"contentFormats":[],"weeklyGoalMinutes":null,"audio":null,"captions":null,"deliverySpeed":null,"accessibility":{"highContrast":false,"screenReader":false,"reducedMotion":false},"notifications":{"email":true,"push":false}}}', null, null, 1, '2026-03-01T12:02:00.000Z', '2026-03-01T12:02:00.000Z', 'oulad-28400@example.org');
insert into users (id, external_id, email, email_key, username, role, status, profile, password_hash, managed_by, version, created_at, updated_at, search_key)
  values ('usr_0mm7pfyqo74f965552a2a2533cd8f', '11391', 'oulad-11391@example.org', 'oulad-11391@example.org', null, 'learner', 'active', '{"firstName":null,"lastName":null,"displayName":null,"timezone":null,"locale":null,"avatarUrl":null,"bio":null,"learningPreferences":{"languages":[],"preferredDifficulty":null,"pace":null,"contentFormats":[],"weeklyGoalMinutes":null,"audio":null,"captions":null,"deliverySpeed":null,"accessibility":{"highContrast":false,"screenReader":false,"reducedMotion":false},"notifications":{"email":true,"push":false}}}', null, null, 1, '2026-03-01T12:07:00.000Z', '2026-03-01T12:07:00.000Z', 'oulad-11391@example.org');
insert into api_keys (id, user_id, name, hash, last4, scopes, expires_at, created_at, last_used_at, revoked_at)
  values ('key_0mm7p6yo062701b91098bfd858199', 'usr_0mm7p6yo000000000000100000000', 'test', 'hjoFACuL5f-uDyfEQXZ25MYV4q6Pl-xbKJIWLMyOFNw', 'B3qn', '["read","write","admin"]', null, '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', null);
insert into api_keys (id, user_id, name, hash, last4, scopes, expires_at, created_at, last_used_at, revoked_at)
  values ('key_0mm7p6yo062701b91099063b2d802', 'usr_0mm7p6yo062701b91098ecdfe1e7a', 'test', '_jd1teKEKv5puYfjrl3J0GQB0OeXukKM3_-LS27-fKE', 'T47M', '["read","write","admin"]', null, '2026-03-01T12:00:00.000Z', '2026-03-01T12:15:00.000Z', null);
insert into api_keys (id, user_id, name, hash, last4, scopes, expires_at, created_at, last_used_at, revoked_at)
  values ('key_0mm7pme805a7d71e19b5f5867d7de', 'usr_0mm7pfyqo74f965552a2a2533cd8f', 'gradebook sync', 'N6rXx9SPSSJ0Fc64VMozsftKIUFhVuUG6jIFsfAcC8Y', 'yhOH', '["read"]', '2027-03-01T12:12:00.000Z', '2026-03-01T12:12:00.000Z', null, null);
insert into courses (id, external_id, title, description, difficulty, status, attributes, managed_by, version, created_at, updated_at, published_at, archived_at, title_key, search_key, level)
  values ('crs_0mm7p6yo062701b910993ae3addc9', 'AAA-2013J', 'Module AAA, presentation 2013J', 'Open University module AAA, started on 2013-10-01, 268 days long.', 'intermediate', 'published', '{"learningObjectives":[],"modules":[],"assessmentCriteria":{"passingScore":40,"moveOn":"Completed","weights":[]},"adaptiveDifficulty":{"enabled":false,"minLevel":null,"maxLevel":null,"raiseAtScore":85,"lowerAtScore":50,"window":3},"progressTracking":{"enabled":true,"completionThreshold":100},"tags":["open-university"],"language":"en","durationMinutes":null}', null, 2, '2026-03-01T12:00:00.000Z', '2026-03-01T12:01:00.000Z', '2026-03-01T12:01:00.000Z', null, 'module aaa, presentation 2013j', 'module aaa, presentation 2013jopen university module aaa, started on 2013-10-01, 268 days long.', 1);
insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
  values ('crs_0mm7p6yo062701b910993ae3addc9', 1, '{"externalId":"AAA-2013J","title":"Module AAA, presentation 2013J","description":"Open University module AAA, started on 2013-10-01, 268 days long.","difficulty":"intermediate","learningObjectives":[],"modules":[],"assessmentCriteria":{"passingScore":40,"moveOn":"Completed","weights":[]},"adaptiveDifficulty":{"enabled":false,"minLevel":null,"maxLevel":null,"raiseAtScore":85,"lowerAtScore":50,"window":3},"progressTracking":{"enabled":true,"completionThreshold":100},"tags":["open-university"],"language":null,"durationMinutes":null,"managedBy":null,"status":"draft"}', '[]', 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:00:00.000Z');
insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
  values ('crs_0mm7p6yo062701b910993ae3addc9', 2, '{"externalId":"AAA-2013J","title":"Module AAA, presentation 2013J","description":"Open University module AAA, started on 2013-10-01, 268 days long.","difficulty":"intermediate","learningObjectives":[],"modules":[],"assessmentCriteria":{"passingScore":40,"moveOn":"Completed","weights":[]},"adaptiveDifficulty":{"enabled":false,"minLevel":null,"maxLevel":null,"raiseAtScore":85,"lowerAtScore":50,"window":3},"progressTracking":{"enabled":true,"completionThreshold":100},"tags":["open-university"],"language":"en","durationMinutes":null,"managedBy":null,"status":"published"}', '["language","status"]', 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:01:00.000Z');
insert into lessons (id, external_id, course_id, module_id, title, description, position, duration_minutes, status, content, managed_by, version, created_at, updated_at, title_key)
  values ('les_0mm7p88yo2edd6500edd961a4249f', 'AAA-2013J-1752', 'crs_0mm7p6yo062701b910993ae3addc9', null, 'First assignment', 'The first of three tutor marked assessments.', 1, null, 'published', '{"learningObjectives":[],"contentBlocks":[],"assessments":[{"id":"asm_0mm7p88yo2edd6500edd857af1b12","type":"assignment","title":"TMA 1752","scoreMaximum":100,"passingScore":40,"weight":10,"attemptsAllowed":null,"dueAt":null,"questions":[]}]}', null, 1, '2026-03-01T12:01:00.000Z', '2026-03-01T12:01:00.000Z', 'first assignment');
insert into enrollments (id, course_id, user_id, role, status, enrolled_at, completed_at, source, managed_by, version, created_at, updated_at)
  values ('enr_0mm7p9j9c290b660e868d8875f9fb', 'crs_0mm7p6yo062701b910993ae3addc9', 'usr_0mm7p9j9c290b660e868a39c7a273', 'learner', 'active', '2013-08-09T00:00:00.000Z', null, 'api', null, 1, '2026-03-01T12:02:00.000Z', '2026-03-01T12:02:00.000Z');
insert into enrollments (id, course_id, user_id, role, status, enrolled_at, completed_at, source, managed_by, version, created_at, updated_at)
  values ('enr_0mm7pfyqo74f965552a2dd83def31', 'crs_0mm7p6yo062701b910993ae3addc9', 'usr_0mm7pfyqo74f965552a2a2533cd8f', 'learner', 'active', '2013-04-25T00:00:00.000Z', null, 'api', null, 1, '2026-03-01T12:07:00.000Z', '2026-03-01T12:07:00.000Z');
insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, completed_at, version, updated_at, risen_at)
  values ('usr_0mm7p9j9c290b660e868a39c7a273', 'crs_0mm7p6yo062701b910993ae3addc9', 60, 'in_progress', '2013-10-23T00:00:00.000Z', '2013-11-22T00:00:00.000Z', null, 2, '2026-03-01T12:04:00.000Z', '2013-11-22T00:00:00.000Z');
insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, completed_at, version, updated_at, risen_at)
  values ('usr_0mm7pfyqo74f965552a2a2533cd8f', 'crs_0mm7p6yo062701b910993ae3addc9', 60, 'in_progress', '2013-10-19T00:00:00.000Z', '2013-11-23T00:00:00.000Z', null, 2, '2026-03-01T12:09:00.000Z', '2013-11-23T00:00:00.000Z');
insert into course_grades (user_id, course_id, percent, updated_at)
  values ('usr_0mm7p9j9c290b660e868a39c7a273', 'crs_0mm7p6yo062701b910993ae3addc9', 68.66666666666667, '2013-11-22T00:00:00.000Z');
insert into course_grades (user_id, course_id, percent, updated_at)
  values ('usr_0mm7pfyqo74f965552a2a2533cd8f', 'crs_0mm7p6yo062701b910993ae3addc9', 82.66666666666667, '2013-11-23T00:00:00.000Z');
insert into oauth_clients (id, name, redirect_uris, is_public, secret_hash, created_at)
  values ('learnctl', 'learnctl', '["http://127.0.0.1/callback","http://[::1]/callback"]', 1, null, '2026-03-01T12:00:00.000Z');
insert into oauth_clients (id, name, redirect_uris, is_public, secret_hash, created_at)
  values ('app_0mm7pnoio44bb8002e89f50c6f860', 'Timetable', '["https://time.example.org/cb"]', 0, 'pDfeYW0D9YYZF65AQIt6jGuYT6VI4HYKKceCgtRNRb8', '2026-03-01T12:13:00.000Z');
insert into grants (id, client_id, user_id, scopes, created_at, expires_at, last_used_at, revoked_at)
  values ('gnt_0mm7pq9405dc8b4331ba4f0e27e66', 'app_0mm7pnoio44bb8002e89f50c6f860', 'usr_0mm7pfyqo74f965552a2a2533cd8f', '["read"]', '2026-03-01T12:15:00.000Z', '2026-05-30T12:15:00.000Z', null, null);
insert into access_tokens (hash, grant_id, scopes, expires_at)
  values ('eeekfBXQV8C_pOpl791OnhBGFhY6eVUJHPKuGa9EhWc', 'gnt_0mm7pq9405dc8b4331ba4f0e27e66', '["read"]', '2026-03-01T13:15:00.000Z');
insert into refresh_tokens (hash, grant_id, expires_at, used_at, successor)
  values ('Q691TRtVqQXlyc4VcK1vZKXztwiE63u2fd_yau8xV34', 'gnt_0mm7pq9405dc8b4331ba4f0e27e66', '2026-03-31T12:15:00.000Z', null, null);
insert into counters (kind, course_id, place, learners, amount)
  values ('in_progress', 'crs_0mm7p6yo062701b910993ae3addc9', 0, 2, 120000000);
insert into counters (kind, course_id, place, learners, amount)
  values ('in_progress at', '', 6000, 2, 120000000);
insert into counters (kind, course_id, place, learners, amount)
  values ('in_progress at', 'crs_0mm7p6yo062701b910993ae3addc9', 6000, 2, 120000000);
insert into counters (kind, course_id, place, learners, amount)
  values ('in_progress graded', '', 0, 2, 151333334);
insert into counters (kind, course_id, place, learners, amount)
  values ('in_progress graded', 'crs_0mm7p6yo062701b910993ae3addc9', 0, 2, 151333334);
insert into counters (kind, course_id, place, learners, amount)
  values ('learners', '', 0, 2, 0);
insert into counters (kind, course_id, place, learners, amount)
  values ('open', 'crs_0mm7p6yo062701b910993ae3addc9', 0, 2, 0);
insert into course_tags (tag, course_id)
  values ('open-university', 'crs_0mm7p6yo062701b910993ae3addc9');
insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
  values ('usr_0mm7p9j9c290b660e868a39c7a273', 'crs_0mm7p6yo062701b910993ae3addc9', 1, 20, 'in_progress', '2013-10-23T00:00:00.000Z', '2026-03-01T12:03:00.000Z');
insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
  values ('usr_0mm7p9j9c290b660e868a39c7a273', 'crs_0mm7p6yo062701b910993ae3addc9', 2, 60, 'in_progress', '2013-11-22T00:00:00.000Z', '2026-03-01T12:04:00.000Z');
insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
  values ('usr_0mm7pfyqo74f965552a2a2533cd8f', 'crs_0mm7p6yo062701b910993ae3addc9', 1, 20, 'in_progress', '2013-10-19T00:00:00.000Z', '2026-03-01T12:08:00.000Z');
insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
  values ('usr_0mm7pfyqo74f965552a2a2533cd8f', 'crs_0mm7p6yo062701b910993ae3addc9', 2, 60, 'in_progress', '2013-11-23T00:00:00.000Z', '2026-03-01T12:09:00.000Z');
insert into lesson_versions (lesson_id, version, external_id, course_id, module_id, title, description, position, duration_minutes, status, content, managed_by, modified_attributes, user_id, created_at)
  values ('les_0mm7p88yo2edd6500edd961a4249f', 1, 'AAA-2013J-1752', 'crs_0mm7p6yo062701b910993ae3addc9', null, 'First assignment', 'The first of three tutor marked assessments.', 1, null, 'published', '{"learningObjectives":[],"contentBlocks":[],"assessments":[{"id":"asm_0mm7p88yo2edd6500edd857af1b12","type":"assignment","title":"TMA 1752","scoreMaximum":100,"passingScore":40,"weight":10,"attemptsAllowed":null,"dueAt":null,"questions":[]}]}', null, '[]', 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:01:00.000Z');
insert into deletions (id, kind, course_id, lessons, enrollments, progress, grades, user_id, deleted_at)
  values ('crs_0mm7p88yo2edd6500eddcf74260a8', 'course', 'crs_0mm7p88yo2edd6500eddcf74260a8', 0, 0, 0, 0, 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:01:00.000Z');
insert into deletions (id, kind, course_id, lessons, enrollments, progress, grades, user_id, deleted_at)
  values ('les_0mm7p88yo2edd6500eddf7a1cd42d', 'lesson', 'crs_0mm7p6yo062701b910993ae3addc9', 0, 0, 0, 0, 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:01:00.000Z');
insert into deleted_courses (id, external_id, title, description, difficulty, status, attributes, managed_by, version, created_at, updated_at, published_at, archived_at, title_key, search_key, level)
  values ('crs_0mm7p88yo2edd6500eddcf74260a8', 'AAA-2012B', 'Module AAA, presentation 2012B', '', 'beginner', 'draft', '{"learningObjectives":[],"modules":[],"assessmentCriteria":{"passingScore":70,"moveOn":"Completed","weights":[]},"adaptiveDifficulty":{"enabled":false,"minLevel":null,"maxLevel":null,"raiseAtScore":85,"lowerAtScore":50,"window":3},"progressTracking":{"enabled":true,"completionThreshold":100},"tags":[],"language":null,"durationMinutes":null}', null, 1, '2026-03-01T12:01:00.000Z', '2026-03-01T12:01:00.000Z', null, null, 'module aaa, presentation 2012b', 'module aaa, presentation 2012b', 0);
insert into deleted_course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
  values ('crs_0mm7p88yo2edd6500eddcf74260a8', 1, '{"externalId":"AAA-2012B","title":"Module AAA, presentation 2012B","description":"","difficulty":"beginner","learningObjectives":[],"modules":[],"assessmentCriteria":{"passingScore":70,"moveOn":"Completed","weights":[]},"adaptiveDifficulty":{"enabled":false,"minLevel":null,"maxLevel":null,"raiseAtScore":85,"lowerAtScore":50,"window":3},"progressTracking":{"enabled":true,"completionThreshold":100},"tags":[],"language":null,"durationMinutes":null,"managedBy":null,"status":"draft"}', '[]', 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:01:00.000Z');
insert into deleted_lessons (id, external_id, course_id, module_id, title, description, position, duration_minutes, status, content, managed_by, version, created_at, updated_at, title_key)
  values ('les_0mm7p88yo2edd6500eddf7a1cd42d', null, 'crs_0mm7p6yo062701b910993ae3addc9', null, 'Third assignment', '', 2, null, 'published', '{"learningObjectives":[],"contentBlocks":[],"assessments":[]}', null, 1, '2026-03-01T12:01:00.000Z', '2026-03-01T12:01:00.000Z', 'third assignment');
insert into deleted_lesson_versions (lesson_id, version, external_id, course_id, module_id, title, description, position, duration_minutes, status, content, managed_by, modified_attributes, user_id, created_at)
  values ('les_0mm7p88yo2edd6500eddf7a1cd42d', 1, null, 'crs_0mm7p6yo062701b910993ae3addc9', null, 'Third assignment', '', 2, null, 'published', '{"learningObjectives":[],"contentBlocks":[],"assessments":[]}', null, '[]', 'usr_0mm7p6yo062701b91098ecdfe1e7a', '2026-03-01T12:01:00.000Z');
insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at, version, created_at, updated_at, cleared, published, delivery_id)
  values ('grd_0mm7pde5c7ca9992fc03ddf640112', 'usr_0mm7p9j9c290b660e868a39c7a273', 'crs_0mm7p6yo062701b910993ae3addc9', 'examples', '1752', 'TMA 1752', 70, 100, 10, '2013-10-23T00:00:00.000Z', 1, '2026-03-01T12:05:00.000Z', '2026-03-01T12:05:00.000Z', 0, 1, null);
insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at, version, created_at, updated_at, cleared, published, delivery_id)
  values ('grd_0mm7peog02390fcf7ebcee65a526e', 'usr_0mm7p9j9c290b660e868a39c7a273', 'crs_0mm7p6yo062701b910993ae3addc9', 'examples', '1753', 'TMA 1753', 68, 100, 20, '2013-11-22T00:00:00.000Z', 1, '2026-03-01T12:06:00.000Z', '2026-03-01T12:06:00.000Z', 0, 1, null);
insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at, version, created_at, updated_at, cleared, published, delivery_id)
  values ('grd_0mm7pjtmo0b179b8fa08275ac6f9a', 'usr_0mm7pfyqo74f965552a2a2533cd8f', 'crs_0mm7p6yo062701b910993ae3addc9', 'examples', '1752', 'TMA 1752', 78, 100, 10, '2013-10-19T00:00:00.000Z', 1, '2026-03-01T12:10:00.000Z', '2026-03-01T12:10:00.000Z', 0, 1, null);
insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at, version, created_at, updated_at, cleared, published, delivery_id)
  values ('grd_0mm7pl3xc2b3761d738141c86d792', 'usr_0mm7pfyqo74f965552a2a2533cd8f', 'crs_0mm7p6yo062701b910993ae3addc9', 'examples', '1753', 'TMA 1753', 85, 100, 20, '2013-11-23T00:00:00.000Z', 1, '2026-03-01T12:11:00.000Z', '2026-03-01T12:11:00.000Z', 0, 1, null);
insert into grade_steps (grade_id, version, score_given, score_maximum, graded_at, recorded_at, recorded_by, cleared, published, delivery_id)
  values ('grd_0mm7pde5c7ca9992fc03ddf640112', 1, 70, 100, '2013-10-23T00:00:00.000Z', '2026-03-01T12:05:00.000Z', 'usr_0mm7p6yo000000000000100000000', 0, 1, null);
insert into grade_steps (grade_id, version, score_given, score_maximum, graded_at, recorded_at, recorded_by, cleared, published, delivery_id)
  values ('grd_0mm7peog02390fcf7ebcee65a526e', 1, 68, 100, '2013-11-22T00:00:00.000Z', '2026-03-01T12:06:00.000Z', 'usr_0mm7p6yo000000000000100000000', 0, 1, null);
insert into grade_steps (grade_id, version, score_given, score_maximum, graded_at, recorded_at, recorded_by, cleared, published, delivery_id)
  values ('grd_0mm7pjtmo0b179b8fa08275ac6f9a', 1, 78, 100, '2013-10-19T00:00:00.000Z', '2026-03-01T12:10:00.000Z', 'usr_0mm7p6yo000000000000100000000', 0, 1, null);
insert into grade_steps (grade_id, version, score_given, score_maximum, graded_at, recorded_at, recorded_by, cleared, published, delivery_id)
  values ('grd_0mm7pl3xc2b3761d738141c86d792', 1, 85, 100, '2013-11-23T00:00:00.000Z', '2026-03-01T12:11:00.000Z', 'usr_0mm7p6yo000000000000100000000', 0, 1, null);
insert into integrations (lms_kind, base_url, access_token, access_token_set_at, access_token_last4, webhook_secrets, root_account_uuid, jwks_url, jwks, grade_to_progress, grade_items, default_grade_maximum, version, created_at, updated_at)
  values ('moodle', null, null, null, null, '[{"sealed":"v1.f9f2d4c818882629.BuID73Amzp2lZyWlbtif3tKkkYZuEKfAZ0XvmBmUUo-MXiUj5gz50mvusG2FNcgWxNQ82sBDqE9n0HYJphF7-VLyi48c3EpMxDF2DC_c","setAt":"2026-03-01T12:14:00.000Z","last4":"Bwc=","endsAt":null}]', null, null, null, 'none', '{}', 100, 1, '2026-03-01T12:14:00.000Z', '2026-03-01T12:14:00.000Z');
insert into integration_mappings (id, lms_kind, noun, external_key, target_id, version, created_at, updated_at)
  values ('map_0mm7pq9406b077dfda60c507c3e7b', 'moodle', 'course', '4', 'crs_0mm7p6yo062701b910993ae3addc9', 1, '2026-03-01T12:15:00.000Z', '2026-03-01T12:15:00.000Z');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (1, 'aud_0mm7p6yo062701b91098c27a35ea3', 'usr_0mm7p6yo000000000000100000000', 'local', 'key.created', 'key_0mm7p6yo062701b91098bfd858199', 'usr_0mm7p6yo000000000000100000000', '["2e612b58a28c472c92f1f19a",null,null]', '2cac56fe4990493f6426f50ac309ea7e5367eda8bec95304b1d777184022593b', '["f147a08504a16c9bdca8c657",null,"test",null,{"id":"key_0mm7p6yo062701b91098bfd858199","userId":"usr_0mm7p6yo000000000000100000000","userEmail":"admin@academy.local","name":"test","prefix":"lpk_","last4":"B3qn","scopes":["read","write","admin"],"expiresAt":null,"createdAt":"2026-03-01T12:00:00.000Z","lastUsedAt":null,"revokedAt":null}]', 'bea4ca05df178118b44c2ef31a895d5001cdb8601c56786f9fa9444ee024d40a', 'e337c6b9dba86524416065960ab8ade2fa7013aeef8bfebdec97b6c08dcccfaf');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (2, 'aud_0mm7p6yo062701b91098f2953b036', 'usr_0mm7p6yo000000000000100000000', 'key_0mm7p6yo062701b91098bfd858199', 'user.created', 'usr_0mm7p6yo062701b91098ecdfe1e7a', null, '["b8bbafd9041fd0434925c69d","192.0.2.1",null]', '50c4dd174e29e24a19d3189384138059745525eada77b1efb8846fd5f04d4906', '["bdff282170a2d986adc20aad","req_0mm7p6yo062701b91098dbce0d012","admin-1@school.example",null,{"id":"usr_0mm7p6yo062701b91098ecdfe1e7a","externalId":null,"email":"admin-1@school.example","username":null,"role":"admin","status":"active","profile":{"firstName":null,"lastName":null,"displayName":null,"timezone":null,"locale":null,"avatarUrl":null,"bio":null,"learningPreferences":{"languages":[],"preferredDifficulty":null,"pace":null,"contentFormats":[],"weeklyGoalMinutes":null,"audio":null,"captions":null,"deliverySpeed":null,"accessibility":{"highContrast":false,"screenReader":false,"reducedMotion":false},"notifications":{"email":true,"push":false}}},"managedBy":null,"version":1,"createdAt":"2026-03-01T12:00:00.000Z","updatedAt":"2026-03-01T12:00:00.000Z"}]', 'c65d46029cc490cd6b39e7aefc6c1284fec3b06f4d919cdd069a5b635e24ab9b', '35e67e72881efae399d04406f6716ed51dbc6aa325112cb368429956ef02b1b6');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (3, 'aud_0mm7p6yo062701b910991ad6bd0f6', 'usr_0mm7p6yo000000000000100000000', 'local', 'key.created', 'key_0mm7p6yo062701b91099063b2d802', 'usr_0mm7p6yo062701b91098ecdfe1e7a', '["baabf34b0ce19837d3f69b69",null,null]', 'dc6b621895abf9cdd61ab153f18e412b41952f7e5bd756f6927f414918a6c496', '["e17ed2a0e9b152c580a1f507",null,"test",null,{"id":"key_0mm7p6yo062701b91099063b2d802","userId":"usr_0mm7p6yo062701b91098ecdfe1e7a","userEmail":"admin-1@school.example","name":"test","prefix":"lpk_","last4":"T47M","scopes":["read","write","admin"],"expiresAt":null,"createdAt":"2026-03-01T12:00:00.000Z","lastUsedAt":null,"revokedAt":null}]', '770f1ffd89612205137842af4d6c3609940f55fe88e0f41c1acf9a4958a4db8e', '630b06c2fb716bda427930adfc67ab9fc5048a79c01290dbdd2649fd25e42de9');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (4, 'aud_0mm7p6yo062701b910994aa41f7ed', 'usr_0mm7p6yo062701b91098ecdfe1e7a', 'key_0mm7p6yo062701b91099063b2d802', 'course.created', 'crs_0mm7p6yo062701b910993ae3addc9', null, '["a644867974012f8fbe43676a","192.0.2.1",null]', '61c1fb0d56e2b42bf2e13a97dcd489cb3e6607621a30f280a6d138b0e739ce9a', '["bee0f53fea29bb1c9011eae3","req_0mm7p6yo062701b910992aabd89c5","Module AAA, presentation 2013J",null,{"id":"crs_0mm7p6yo062701b910993ae3addc9","externalId":"AAA-2013J","title":"Module AAA, presentation 2013J","description":"Open University module AAA, started on 2013-10-01, 268 days long.","difficulty":"intermediate","learningObjectives":[],"modules":[],"assessmentCriteria":{"passingScore":40,"moveOn":"Completed","weights":[]},"adaptiveDifficulty":{"enabled":false,"minLevel":null,"maxLevel":null,"raiseAtScore":85,"lowerAtScore":50,"window":3},"progressTracking":{"enabled":true,"completionThreshold":100},"tags":["open-university"],"language":null,"durationMinutes":null,"managedBy":null,"status":"draft","version":1,"createdAt":"2026-03-01T12:00:00.000Z","updatedAt":"2026-03-01T12:00:00.000Z","publishedAt":null,"archivedAt":null}]', '6d28b5113d36c8be9cc8a7b1727a6e5b0947ac3c0585648839ad2505455777f9', '913451f0927c4ce236acbb1e2871ea1d7b777fc3122f5bd0f341901bd2563fc6');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (5, 'aud_0mm7p88yo2edd6500edd5f0958f06', 'usr_0mm7p6yo062701b91098ecdfe1e7a', 'key_0mm7p6yo062701b91099063b2d802', 'course.updated', 'crs_0mm7p6yo062701b910993ae3addc9', null, '["6b05285a05d073d5d91b812b","192.0.2.1",null]', 'd8c5e50d3c25d4b1461997477a4f9398437fc98943d7e2fcc575ad5843238a1d', '["5f87cf090ea00e9dd3215efc","req_0mm7p88yo2edd6500edd4259b1bb5","Module AAA, presentation 2013J",{"language":null,"version":1},{"language":"en","version":2}]', 'a581d9973ae603067fd8f16a5e34418ae2160597fd34103e417abd34257f8902', '631159ad5c32ed59ffa29ba44505c436f88e7adf311eb65daecc17d8bb18d804');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (6, 'aud_0mm7p88yo2edd6500edd66f228cc6', 'usr_0mm7p6yo062701b91098ecdfe1e7a', 'key_0mm7p6yo062701b91099063b2d802', 'course.published', 'crs_0mm7p6yo062701b910993ae3addc9', null, '["ba1e512a0cff2bcbc2ea3352","192.0.2.1",null]', '8e0b7250a0d141e6d45154c05d2d693074e0d985448790bdbb4598c895dcf7d9', '["cd75f038ddb63743a45171ff","req_0mm7p88yo2edd6500edd4259b1bb5","Module AAA, presentation 2013J",{"status":"draft","publishedAt":null},{"status":"published","publishedAt":"2026-03-01T12:01:00.000Z"}]', '4e147cc9af3f483442f6ca0057502a94168069e5e00c0a4b660bcfb18ad67372', 'e98a06e674ebf39064ca72a8d2a6437db9957791af96d422afde736ebada067b');
insert into audit_entries (place, id, user_id, credential, action, subject_id, about_id, origin, origin_digest, details, details_digest, hash)
  values (7, 'aud_0mm7p88yo2edd6500eddafaa60f7e', 'usr_0mm7p6yo062701b91098ecdfe1e7a', 'key_0mm7p6yo062701b91099063b2d802', 'lesson.created', 'les_0mm7p88yo2edd6500edd961a4249f', null, '["b5cd0feb903bd73bd2fe3734","192.0.2.1",null]', '8acf962754c92b9692d584ba60114c372174fececcda0acad629c07b5df4b175', '["e8650ea5499c65b9995893df","req_0mm7p88yo2edd6500edd72d1d5759","First assignment",null,{"id":"les_0mm7p88yo2edd6500edd961a4249f","externalId":"AAA-2013J-1752","courseId":"crs_0mm7p6yo062701b910993ae3addc9","courseTitle":"Module AAA, presentation 2013J","moduleId":null,"title":"First assignment","description":"The first of three tutor marked assessments.","order":1,"durationMinutes":null,"status":"published","learningObjectives":[],"contentBlocks":[],"assessments":[{"id":"asm_0mm7p88yo2edd6500edd857af1b12","type":"assignment","title":"TMA 1752","scoreMaximum":100,"passingScore":40,"weight":10,"attemptsAllowed":null,"dueAt":null,"questions":[]}],"managedBy":null,"version":1,"createdAt":"2026-03-01T12:01:00.000Z","updatedAt":"2026-03-01T12:01:00.000Z"}]', '65c5713583573c704bc420858878d000d5b75170478fc383b956bc51c9cb1448', '396a052bb2600e1763ad189274ff67c1bc017d414e263420168cca9678717be6');
insert into webhook_endpoints (id, url, events, description, status, disabled_reason, expires_at, paused_until, secret, previous_secret, previous_secret_until, mark, version, created_at, updated_at, deleted_at)
  values ('whe_0mm7poytc5384940b9e80ee87a226', 'https://grades.example.org/events', '["grade.updated","progress.*"]', '', 'active', null, null, null, 'v1.f9f2d4c818882629.jkwhjW2M3A31U8HvsWBf_ONB5jpObLoNtw40w2wikoJht3dEOtmuhYDrLTQrrIkOdjckRvE5B2NeF0eZsq0nPYHWsTM1FsL357r5k9ZC', null, null, '0000', 1, '2026-03-01T12:14:00.000Z', '2026-03-01T12:14:00.000Z', null);
insert into webhook_subscriptions (pattern, endpoint_id, mark)
  values ('grade.updated', 'whe_0mm7poytc5384940b9e80ee87a226', '0000');
insert into webhook_subscriptions (pattern, endpoint_id, mark)
  values ('progress.*', 'whe_0mm7poytc5384940b9e80ee87a226', '0000');
insert into webhook_messages (id, endpoint_id, type, subject, body, status, step, attempt_count, last_result, due_at, lease, created_at, finished_at)
  values ('msg_0mm7poytc5384940b9e83b8370000', 'whe_0mm7poytc5384940b9e80ee87a226', 'endpoint.test', 'whe_0mm7poytc5384940b9e80ee87a226', '{"type":"endpoint.test","timestamp":"2026-03-01T12:14:00.000Z","data":{"endpointId":"whe_0mm7poytc5384940b9e80ee87a226","description":""}}', 'pending', 0, 0, null, '2026-03-01T12:14:00.000Z', null, '2026-03-01T12:14:00.000Z', null);
insert into webhook_deliveries (id, lms_kind, delivery_key, event, status, reason, detail, missing, user_id, course_id, item_id, grade_id, learner_hint, body, replays, received_at, processed_at)
  values ('whd_0mm7poytc5384940b9e87fb5038b0', 'moodle', 'sha256:95b5f9ed735dab4425603e1346477c1e3ae9898dbbcdab3e47ddef76b6a118d6', '\core\event\user_graded', 'unmatched', 'not_found', null, '["course","learner"]', null, null, '12', null, 'key:moodle:15', '{"eventname":"\\core\\event\\user_graded","component":"core","action":"graded","target":"user","objecttable":"grade_grades","objectid":"311","crud":"u","edulevel":1,"contextid":27,"contextlevel":50,"contextinstanceid":"4","userid":"2","courseid":"4","relateduserid":"15","anonymous":0,"other":{"itemid":"12","overridden":false,"finalgrade":"85.00000"},"timecreated":1751365200,"host":"moodle.example.edu","extra":""}', 0, '2026-03-01T12:14:00.000Z', '2026-03-01T12:14:00.000Z');
