import { integer, json, orNull, type Table, text, withDefault } from './table.ts'

const settings: Table = {
  name: 'settings',
  columns: {
    name: text,
    value: text,
  },
  key: 'name',
}

/** `email_key` is the address in lower case, `search_key` the text that searches match (stored-keys.ts). */
const users: Table = {
  name: 'users',
  columns: {
    id: text,
    external_id: orNull(text),
    email: text,
    email_key: text,
    username: orNull(text),
    role: text,
    status: text,
    profile: json,
    password_hash: orNull(text),
    managed_by: orNull(text),
    version: integer,
    created_at: text,
    updated_at: text,
    search_key: withDefault(text, ''),
  },
  key: 'id',
  unique: ['external_id', 'email_key', 'username'],
  indexes: [
    'create index users_by_email on users (email, id, status, role)',
    'create index users_by_created_at on users (created_at, id, status, role)',
    'create index users_by_updated_at on users (updated_at, id, status, role, created_at, email)',
    'create index users_by_role on users (role, status, created_at, id, updated_at, email)',
    'create index users_by_manager on users (managed_by, status, role, created_at, id, updated_at, email) where managed_by is not null',
  ],
}

/** Credentials are stored as SHA-256 only. */
const apiKeys: Table = {
  name: 'api_keys',
  columns: {
    id: text,
    user_id: text,
    name: text,
    hash: text,
    last4: text,
    scopes: text,
    expires_at: orNull(text),
    created_at: text,
    last_used_at: orNull(text),
    revoked_at: orNull(text),
  },
  key: 'id',
  unique: ['hash'],
  references: [{ from: 'user_id', to: 'users (id)' }],
  indexes: [
    'create index api_keys_by_user on api_keys (user_id, created_at, id)',
    'create index api_keys_by_created_at on api_keys (created_at, id)',
    'create index api_keys_live on api_keys (user_id, expires_at) where revoked_at is null',
  ],
}

/** Calendars at secret addresses, of a course or of a user. A deleted course keeps its id, so it is not referred to. */
export const calendars: Table = {
  name: 'calendars',
  columns: {
    id: text,
    course_id: orNull(text),
    user_id: orNull(text),
    hash: text,
    last4: text,
    created_at: text,
  },
  key: 'id',
  unique: ['hash'],
  references: [{ from: 'user_id', to: 'users (id)' }],
  indexes: [
    'create index calendars_by_created_at on calendars (created_at, id)',
    'create index calendars_by_course on calendars (course_id) where course_id is not null',
    'create index calendars_by_user on calendars (user_id, id) where user_id is not null',
  ],
}

/** Browser sessions. `id`, `browser` and `place` help their owner to tell them apart. */
const browserSessions: Table = {
  name: 'browser_sessions',
  columns: {
    hash: text,
    user_id: text,
    wrong_codes: withDefault(integer, 0),
    created_at: text,
    expires_at: text,
    id: withDefault(text, ''),
    browser: withDefault(text, ''),
    place: withDefault(text, ''),
  },
  key: 'hash',
  inKeyOrder: true,
  references: [{ from: 'user_id', to: 'users (id)' }],
  indexes: [
    'create index browser_sessions_by_expires_at on browser_sessions (expires_at)',
    'create index browser_sessions_by_user on browser_sessions (user_id, created_at)',
  ],
}

/**
 * Failed attempts at passwords and codes, keyed by the HMAC of the account or address. The number of slots is
 * bounded; `next_at` is when another attempt is allowed.
 */
const attempts: Table = {
  name: 'attempts',
  columns: {
    slot: integer,
    name: text,
    failures: integer,
    next_at: text,
  },
  key: 'slot',
  indexes: ['create index attempts_by_next_at on attempts (next_at)'],
}

const idempotency: Table = {
  name: 'idempotency',
  columns: {
    user_id: text,
    method: text,
    path: text,
    key: text,
    fingerprint: text,
    status: integer,
    headers: text,
    body: orNull(text),
    created_at: text,
  },
  key: 'user_id, method, path, key',
  inKeyOrder: true,
  indexes: ['create index idempotency_by_created_at on idempotency (created_at)'],
}

export const userTables: readonly Table[] = [
  settings,
  users,
  apiKeys,
  calendars,
  browserSessions,
  attempts,
  idempotency,
]
