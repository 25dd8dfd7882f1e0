import { integer, orNull, type Table, text, withDefault } from './table.ts'

/**
 * Receivers of events. `settings` is JSON by kind. The URL of a slack or teams endpoint is its secret, of which `url`
 * has the shown part.
 */
export const webhookEndpoints: Table = {
  name: 'webhook_endpoints',
  columns: {
    id: text,
    url: text,
    events: text,
    description: text,
    status: text,
    disabled_reason: orNull(text),
    expires_at: orNull(text),
    paused_until: orNull(text),
    secret: text,
    previous_secret: orNull(text),
    previous_secret_until: orNull(text),
    mark: text,
    version: integer,
    created_at: text,
    updated_at: text,
    deleted_at: orNull(text),
    kind: withDefault(text, 'standard'),
    settings: orNull(text),
    next_delivery_at: orNull(text),
    digest_due_at: orNull(text),
  },
  key: 'id',
  inKeyOrder: true,
  indexes: [
    'create unique index webhook_endpoints_by_mark on webhook_endpoints (mark)',
    'create index webhook_endpoints_by_created_at on webhook_endpoints (created_at, id)',
  ],
}

/**
 * Subscriptions of active endpoints. Each change looks here for endpoints that want its events. `courses` is null for
 * all, else the ids of courses with commas between them.
 */
export const webhookSubscriptions: Table = {
  name: 'webhook_subscriptions',
  columns: {
    pattern: text,
    endpoint_id: text,
    mark: text,
    courses: orNull(text),
  },
  key: 'pattern, endpoint_id',
  inKeyOrder: true,
  references: [{ from: 'endpoint_id', to: 'webhook_endpoints (id)', cascade: true }],
  indexes: ['create index webhook_subscriptions_by_endpoint on webhook_subscriptions (endpoint_id)'],
}

/**
 * Messages in the order of their ids, and so of time. `due_at` is null once a message is finished; the lease of a
 * message that waits for another is empty. A waiting message is in no index by subject, which keeps inserts cheap.
 */
const webhookMessages: Table = {
  name: 'webhook_messages',
  columns: {
    id: text,
    endpoint_id: text,
    type: text,
    subject: text,
    body: text,
    status: text,
    step: integer,
    attempt_count: integer,
    last_result: orNull(text),
    due_at: orNull(text),
    lease: orNull(text),
    created_at: text,
    finished_at: orNull(text),
  },
  key: 'id',
  inKeyOrder: true,
  indexes: [
    'create unique index webhook_messages_by_endpoint on webhook_messages (endpoint_id, id)',
    'create index webhook_messages_due on webhook_messages (endpoint_id, due_at, id, subject, step) where due_at is not null',
    'create index webhook_messages_by_subject on webhook_messages (subject, endpoint_id, status, id, step) where lease is not null or step > 0 or due_at is null',
  ],
}

const webhookAttempts: Table = {
  name: 'webhook_attempts',
  columns: {
    message_id: text,
    number: integer,
    started_at: text,
    duration_ms: integer,
    status: orNull(integer),
    result: text,
    response: text,
  },
  key: 'message_id, number',
  inKeyOrder: true,
  references: [{ from: 'message_id', to: 'webhook_messages (id)', cascade: true }],
}

/**
 * The audit log, append-only. `origin` and `details` become null on erasure; `place` (negative until then) and `hash`
 * are set when an entry is linked. Ids contain the time, so each index is in order of time.
 */
const auditEntries: Table = {
  name: 'audit_entries',
  columns: {
    place: integer,
    id: text,
    user_id: orNull(text),
    credential: orNull(text),
    action: text,
    subject_id: orNull(text),
    about_id: orNull(text),
    origin: orNull(text),
    origin_digest: text,
    details: orNull(text),
    details_digest: text,
    hash: orNull(text),
    change_id: orNull(text),
  },
  key: 'place',
  unique: ['id'],
  indexes: [
    'create index audit_entries_by_user on audit_entries (user_id, id)',
    'create index audit_entries_by_credential on audit_entries (credential, id)',
    'create index audit_entries_by_action on audit_entries (action, id)',
    'create index audit_entries_by_subject on audit_entries (subject_id, id)',
    'create index audit_entries_by_about on audit_entries (about_id, id) where about_id is not null',
    'create index audit_entries_by_change on audit_entries (change_id, id) where change_id is not null',
  ],
}

/** `source` becomes null where it names an erased user. */
export const changes: Table = {
  name: 'changes',
  columns: {
    id: text,
    user_id: text,
    command: text,
    source: orNull(text),
    undoes: orNull(text),
    state: text,
    created_at: text,
    ended_at: orNull(text),
  },
  key: 'id',
  references: [{ from: 'user_id', to: 'users (id)' }],
  indexes: [
    'create index changes_by_user on changes (user_id, id)',
    'create index changes_by_undone on changes (undoes, id) where undoes is not null',
  ],
}

/**
 * Number of actions of a change. Where the engine has many writers, each request adds rows with a slot of its own, so
 * that requests do not wait for each other; the sum over the slots counts.
 */
export const changeCounts: Table = {
  name: 'change_counts',
  columns: {
    change_id: text,
    action: text,
    slot: integer,
    total: integer,
  },
  key: 'change_id, action, slot',
  inKeyOrder: true,
  references: [{ from: 'change_id', to: 'changes (id)', cascade: true }],
}

/** Plans, until they are carried out: `done` steps are. */
export const plans: Table = {
  name: 'plans',
  columns: {
    id: text,
    user_id: text,
    command: text,
    source: orNull(text),
    change_id: orNull(text),
    steps: integer,
    characters: integer,
    done: integer,
    created_at: text,
  },
  key: 'id',
  references: [{ from: 'user_id', to: 'users (id)', cascade: true }],
  indexes: ['create index plans_by_user on plans (user_id, created_at)'],
}

/** Steps of plans. `record_id` is that of the record, once it is there; `secret` the hash of a new password. */
export const planSteps: Table = {
  name: 'plan_steps',
  columns: {
    plan_id: text,
    step: integer,
    noun: text,
    action: text,
    record_id: orNull(text),
    version: orNull(integer),
    record: text,
    secret: orNull(text),
  },
  key: 'plan_id, step',
  inKeyOrder: true,
  references: [{ from: 'plan_id', to: 'plans (id)', cascade: true }],
  indexes: [
    'create index plan_steps_by_record on plan_steps (record_id, plan_id) where record_id is not null',
  ],
}

/**
 * Changes of the rows that analysts read, in the order of their commits; of several in one transaction, `item` tells them
 * apart. `id` is that of the record, and for progress its version. `changed_at` is in milliseconds since 1970.
 */
export const rowChanges: Table = {
  name: 'row_changes',
  columns: {
    commit_order: integer,
    item: integer,
    kind: text,
    id: text,
    user_id: orNull(text),
    course_id: orNull(text),
    changed_at: integer,
  },
  key: 'commit_order, item',
  inKeyOrder: true,
}

export const eventTables: readonly Table[] = [
  webhookEndpoints,
  webhookSubscriptions,
  webhookMessages,
  webhookAttempts,
  auditEntries,
  changes,
  changeCounts,
  plans,
  planSteps,
  rowChanges,
]
