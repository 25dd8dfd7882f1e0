import sql, { raw } from 'sql-template-tag'

/** Where events are sent, who subscribes to what, and the messages on their way with their attempts. */
export const outboxSchema = [
  raw(`create table webhook_endpoints (
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
  ) strict, without rowid`),
  sql`create unique index webhook_endpoints_by_mark on webhook_endpoints (mark)`,
  sql`create index webhook_endpoints_by_created_at on webhook_endpoints (created_at, id)`,
  // Those of active endpoints alone. What is written asks it once for each event.
  raw(`create table webhook_subscriptions (
    pattern text not null,
    endpoint_id text not null references webhook_endpoints (id) on delete cascade,
    mark text not null,
    primary key (pattern, endpoint_id)
  ) strict, without rowid`),
  sql`create index webhook_subscriptions_by_endpoint on webhook_subscriptions (endpoint_id)`,
  // `due_at` is null once it is finished, and while it waits for an earlier one about the same subject.
  raw(`create table webhook_messages (
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
  ) strict, without rowid`),
  sql`create index webhook_messages_due on webhook_messages (endpoint_id, due_at, id) where due_at is not null`,
  sql`create index webhook_messages_by_subject on webhook_messages (subject, endpoint_id, status, id)`,
  sql`create index webhook_messages_by_created_at on webhook_messages (created_at, id)`,
  sql`create index webhook_messages_by_endpoint on webhook_messages (endpoint_id, created_at, id)`,
  raw(`create table webhook_attempts (
    message_id text not null references webhook_messages (id) on delete cascade,
    number integer not null,
    started_at text not null,
    duration_ms integer not null,
    status integer,
    result text not null,
    response text not null,
    primary key (message_id, number)
  ) strict, without rowid`),
]

/** Messages in the order of their ids, which is that in which they were made, in place of their times. */
export const messageOrder = [
  sql`drop index webhook_messages_by_created_at`,
  sql`drop index webhook_messages_by_endpoint`,
  // Unique, so that nothing is sorted by what follows the id.
  sql`create unique index webhook_messages_by_endpoint on webhook_messages (endpoint_id, id)`,
]

/**
 * A message that only waits is in no index by subject: writing it costs a place at the end of each table and index alone.
 * The lease of one that waits for another is empty; its time is when it is looked at again in any case.
 */
export const messagesInHand = [
  sql`drop index webhook_messages_by_subject`,
  sql`drop index webhook_messages_due`,
  sql`update webhook_messages set due_at = created_at where status = 'pending' and due_at is null`,
  sql`create index webhook_messages_due on webhook_messages (endpoint_id, due_at, id, subject, step)
    where due_at is not null`,
  sql`create index webhook_messages_by_subject on webhook_messages (subject, endpoint_id, status, id, step)
    where lease is not null or step > 0 or due_at is null`,
]
