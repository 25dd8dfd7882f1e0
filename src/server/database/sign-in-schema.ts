import sql from 'sql-template-tag'

/** The keys and grants of a user that count: of each there are only so many, however many have ended. */
export const liveCredentials = [
  sql`create index api_keys_live on api_keys (user_id, expires_at) where revoked_at is null`,
  sql`create index grants_live on grants (user_id, expires_at) where revoked_at is null`,
]

/**
 * The tables of version 2: OAuth 2.0 and the sessions of browsers. Of every credential only its SHA-256 is kept, of
 * the short code of a device an HMAC; a grant is the family of all tokens that one consent led to (RFC 9700 §4.14.2),
 * and `grants.expires_at` the time at which its newest refresh token ends.
 */
export const signInSchema = [
  sql`create table oauth_clients (
    id text primary key,
    name text not null,
    redirect_uris text not null,
    is_public integer not null,
    secret_hash text,
    created_at text not null
  ) strict`,

  sql`create table grants (
    id text primary key,
    client_id text not null references oauth_clients (id) on delete cascade,
    user_id text not null references users (id),
    scopes text not null,
    created_at text not null,
    expires_at text not null,
    last_used_at text,
    revoked_at text
  ) strict`,
  sql`create index grants_by_user on grants (user_id, created_at)`,
  sql`create index grants_by_client on grants (client_id)`,
  sql`create index grants_by_expires_at on grants (expires_at)`,

  sql`create table authorization_codes (
    hash text primary key,
    client_id text not null references oauth_clients (id) on delete cascade,
    user_id text not null references users (id),
    redirect_uri text not null,
    scopes text not null,
    code_challenge text,
    expires_at text not null,
    grant_id text references grants (id) on delete cascade
  ) strict, without rowid`,
  sql`create index authorization_codes_by_expires_at on authorization_codes (expires_at) where grant_id is null`,
  sql`create index authorization_codes_by_grant on authorization_codes (grant_id)`,
  sql`create index authorization_codes_by_client on authorization_codes (client_id)`,
  sql`create index authorization_codes_by_user on authorization_codes (user_id)`,

  sql`create table access_tokens (
    hash text primary key,
    grant_id text not null references grants (id) on delete cascade,
    scopes text not null,
    expires_at text not null
  ) strict, without rowid`,
  sql`create index access_tokens_by_expires_at on access_tokens (expires_at)`,
  sql`create index access_tokens_by_grant on access_tokens (grant_id)`,

  sql`create table refresh_tokens (
    hash text primary key,
    grant_id text not null references grants (id) on delete cascade,
    expires_at text not null,
    used_at text
  ) strict, without rowid`,
  sql`create index refresh_tokens_by_grant on refresh_tokens (grant_id)`,

  sql`create table device_codes (
    hash text primary key,
    user_code_hash text not null unique,
    client_id text not null references oauth_clients (id) on delete cascade,
    scopes text not null,
    expires_at text not null,
    interval_seconds integer not null,
    polled_at text,
    user_id text references users (id),
    decision text
  ) strict, without rowid`,
  sql`create index device_codes_by_expires_at on device_codes (expires_at)`,

  sql`create table browser_sessions (
    hash text primary key,
    user_id text not null references users (id),
    wrong_codes integer not null default 0,
    created_at text not null,
    expires_at text not null
  ) strict, without rowid`,
  sql`create index browser_sessions_by_user on browser_sessions (user_id)`,
  sql`create index browser_sessions_by_expires_at on browser_sessions (expires_at)`,
]
