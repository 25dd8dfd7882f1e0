import sql from 'sql-template-tag'

/**
 * What was done, by whom and from where. Entries are appended and never changed, but for `origin` and `details`, which are
 * null once they are erased, and for `place` and `hash`: an entry that is linked later has a place below zero until then.
 * When it was is in the id: each index is in the order of time.
 */
export const auditSchema = [
  sql`create table audit_entries (
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
  ) strict`,
  sql`create index audit_entries_by_user on audit_entries (user_id, id)`,
  sql`create index audit_entries_by_credential on audit_entries (credential, id)`,
  sql`create index audit_entries_by_action on audit_entries (action, id)`,
  sql`create index audit_entries_by_subject on audit_entries (subject_id, id)`,
  sql`create index audit_entries_by_about on audit_entries (about_id) where about_id is not null`,
]
