import sql from 'sql-template-tag'

/**
 * How other learning management systems are connected, one row for each kind of them, with their secrets sealed; and what
 * their courses and users are here. A mapping outlives what it leads to, so that what comes back from the trash is still
 * known by it.
 */
export const integrationSchema = [
  sql`create table integrations (
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
  ) strict`,

  sql`create table integration_mappings (
    id text not null,
    lms_kind text not null,
    noun text not null,
    external_key text not null,
    target_id text not null,
    version integer not null,
    created_at text not null,
    updated_at text not null,
    primary key (lms_kind, noun, external_key)
  ) strict`,
  sql`create unique index integration_mappings_by_id on integration_mappings (id)`,
  sql`create index integration_mappings_by_time on integration_mappings (lms_kind, created_at, id)`,
  sql`create index integration_mappings_by_noun on integration_mappings (lms_kind, noun, created_at, id)`,
  sql`create index integration_mappings_by_target on integration_mappings (target_id, lms_kind, created_at, id)`,
]
