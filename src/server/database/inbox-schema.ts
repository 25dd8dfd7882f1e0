import sql from 'sql-template-tag'

/**
 * Authentic deliveries of other systems, each kept once, with what became of it. `body` has no secret, and is null where
 * nothing can be done with it any more. `learner_hint` is what the learner is called, where nobody here is known by it: the
 * inbox has to be found when that person is erased.
 */
export const inboxSchema = [
  sql`create table webhook_deliveries (
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
  ) strict`,
  sql`create index webhook_deliveries_by_time on webhook_deliveries (received_at, id, lms_kind, status)`,
  sql`create index webhook_deliveries_waiting on webhook_deliveries (lms_kind, received_at, id) where status = 'unmatched'`,
  sql`create index webhook_deliveries_by_user on webhook_deliveries (user_id) where user_id is not null`,
  sql`create index webhook_deliveries_by_hint on webhook_deliveries (learner_hint) where learner_hint is not null`,
]
