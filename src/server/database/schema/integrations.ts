import { integer, orNull, real, type Table, text } from './table.ts'

/** One row per kind, with encrypted secrets. */
const integrations: Table = {
  name: 'integrations',
  columns: {
    lms_kind: text,
    base_url: orNull(text),
    access_token: orNull(text),
    access_token_set_at: orNull(text),
    access_token_last4: orNull(text),
    webhook_secrets: text,
    root_account_uuid: orNull(text),
    jwks_url: orNull(text),
    jwks: orNull(text),
    grade_to_progress: text,
    grade_items: text,
    default_grade_maximum: real,
    version: integer,
    created_at: text,
    updated_at: text,
    client_id: orNull(text),
    client_secret: orNull(text),
    refresh_token: orNull(text),
    token_url: orNull(text),
  },
  key: 'lms_kind',
}

/**
 * Mappings of external courses and users to those of this academy. A mapping outlives its target, so that a record
 * restored from the trash is still mapped.
 */
const integrationMappings: Table = {
  name: 'integration_mappings',
  columns: {
    id: text,
    lms_kind: text,
    noun: text,
    external_key: text,
    target_id: text,
    version: integer,
    created_at: text,
    updated_at: text,
  },
  key: 'lms_kind, noun, external_key',
  indexes: [
    'create unique index integration_mappings_by_id on integration_mappings (id)',
    'create index integration_mappings_by_time on integration_mappings (lms_kind, created_at, id)',
    'create index integration_mappings_by_noun on integration_mappings (lms_kind, noun, created_at, id)',
    'create index integration_mappings_by_target on integration_mappings (target_id, lms_kind, created_at, id)',
  ],
}

/**
 * Authentic deliveries, each stored once, with their outcome. `body` contains no secret and becomes null once it is
 * no longer needed. `learner_hint` names a learner without a user here, so that an erasure finds the delivery.
 */
const webhookDeliveries: Table = {
  name: 'webhook_deliveries',
  columns: {
    id: text,
    lms_kind: text,
    delivery_key: text,
    event: text,
    status: text,
    reason: orNull(text),
    detail: orNull(text),
    missing: text,
    user_id: orNull(text),
    course_id: orNull(text),
    item_id: orNull(text),
    grade_id: orNull(text),
    learner_hint: orNull(text),
    body: orNull(text),
    replays: integer,
    received_at: text,
    processed_at: text,
  },
  key: 'id',
  unique: ['lms_kind, delivery_key'],
  indexes: [
    'create index webhook_deliveries_by_time on webhook_deliveries (received_at, id, lms_kind, status)',
    "create index webhook_deliveries_waiting on webhook_deliveries (lms_kind, received_at, id) where status = 'unmatched'",
    'create index webhook_deliveries_by_user on webhook_deliveries (user_id, id) where user_id is not null',
    'create index webhook_deliveries_by_hint on webhook_deliveries (learner_hint) where learner_hint is not null',
  ],
}

export const integrationTables: readonly Table[] = [integrations, integrationMappings, webhookDeliveries]
