import sql from 'sql-template-tag'

/**
 * What was done, by whom and from where. Entries are appended and never changed, but for `place` and `hash` where they
 * are linked later, and for `origin` and `details`, which are null once they are erased.
 */
export const auditSchema = [
  sql`create table audit_entries (
    id text primary key,
    place integer,
    at text not null,
    user_id text,
    credential text not null,
    action text not null,
    subject_id text,
    about_id text,
    origin text,
    origin_digest text not null,
    details text,
    details_digest text not null,
    hash text
  ) strict`,
  sql`create unique index audit_entries_by_place on audit_entries (place)`,
  sql`create index audit_entries_by_at on audit_entries (at, id)`,
  sql`create index audit_entries_by_user on audit_entries (user_id, at, id)`,
  sql`create index audit_entries_by_credential on audit_entries (credential, at, id)`,
  sql`create index audit_entries_by_action on audit_entries (action, at, id)`,
  sql`create index audit_entries_by_subject on audit_entries (subject_id, at, id)`,
  sql`create index audit_entries_by_about on audit_entries (about_id) where about_id is not null`,
]
