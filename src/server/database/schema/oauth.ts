import { integer, orNull, type Table, text, withDefault } from './table.ts'

const oauthClients: Table = {
  name: 'oauth_clients',
  columns: {
    id: text,
    name: text,
    redirect_uris: text,
    is_public: integer,
    secret_hash: orNull(text),
    created_at: text,
    machine_scopes: withDefault(text, '[]'),
  },
  key: 'id',
  indexes: ['create index oauth_clients_by_created_at on oauth_clients (created_at, id)'],
}

/** Token families, one per consent (RFC 9700 §4.14.2); `expires_at` is when the newest refresh token expires. */
const grants: Table = {
  name: 'grants',
  columns: {
    id: text,
    client_id: text,
    user_id: text,
    scopes: text,
    created_at: text,
    expires_at: text,
    last_used_at: orNull(text),
    revoked_at: orNull(text),
  },
  key: 'id',
  references: [
    { from: 'client_id', to: 'oauth_clients (id)', cascade: true },
    { from: 'user_id', to: 'users (id)' },
  ],
  indexes: [
    'create index grants_by_client on grants (client_id)',
    'create index grants_by_expires_at on grants (expires_at)',
    'create index grants_by_user on grants (user_id, created_at, id)',
    'create index grants_live on grants (user_id, expires_at) where revoked_at is null',
  ],
}

const authorizationCodes: Table = {
  name: 'authorization_codes',
  columns: {
    hash: text,
    client_id: text,
    user_id: text,
    redirect_uri: text,
    scopes: text,
    code_challenge: orNull(text),
    expires_at: text,
    grant_id: orNull(text),
  },
  key: 'hash',
  inKeyOrder: true,
  references: [
    { from: 'client_id', to: 'oauth_clients (id)', cascade: true },
    { from: 'user_id', to: 'users (id)' },
    { from: 'grant_id', to: 'grants (id)', cascade: true },
  ],
  indexes: [
    'create index authorization_codes_by_expires_at on authorization_codes (expires_at) where grant_id is null',
    'create index authorization_codes_by_grant on authorization_codes (grant_id)',
    'create index authorization_codes_by_client on authorization_codes (client_id)',
    'create index authorization_codes_by_user on authorization_codes (user_id)',
  ],
}

const accessTokens: Table = {
  name: 'access_tokens',
  columns: {
    hash: text,
    grant_id: text,
    scopes: text,
    expires_at: text,
  },
  key: 'hash',
  inKeyOrder: true,
  references: [{ from: 'grant_id', to: 'grants (id)', cascade: true }],
  indexes: [
    'create index access_tokens_by_expires_at on access_tokens (expires_at)',
    'create index access_tokens_by_grant on access_tokens (grant_id)',
  ],
}

export const clientTokens: Table = {
  name: 'client_tokens',
  columns: {
    hash: text,
    client_id: text,
    scopes: text,
    expires_at: text,
  },
  key: 'hash',
  inKeyOrder: true,
  references: [{ from: 'client_id', to: 'oauth_clients (id)', cascade: true }],
  indexes: [
    'create index client_tokens_by_expires_at on client_tokens (expires_at)',
    'create index client_tokens_by_client on client_tokens (client_id, expires_at)',
  ],
}

/** `successor` is the token it was exchanged for, so that a client whose response was lost can repeat the request. */
const refreshTokens: Table = {
  name: 'refresh_tokens',
  columns: {
    hash: text,
    grant_id: text,
    expires_at: text,
    used_at: orNull(text),
    successor: orNull(text),
  },
  key: 'hash',
  inKeyOrder: true,
  references: [{ from: 'grant_id', to: 'grants (id)', cascade: true }],
  indexes: ['create index refresh_tokens_by_grant on refresh_tokens (grant_id)'],
}

/** The short code of a device is stored as an HMAC. */
const deviceCodes: Table = {
  name: 'device_codes',
  columns: {
    hash: text,
    user_code_hash: text,
    client_id: text,
    scopes: text,
    expires_at: text,
    interval_seconds: integer,
    polled_at: orNull(text),
    user_id: orNull(text),
    decision: orNull(text),
  },
  key: 'hash',
  inKeyOrder: true,
  unique: ['user_code_hash'],
  references: [
    { from: 'client_id', to: 'oauth_clients (id)', cascade: true },
    { from: 'user_id', to: 'users (id)' },
  ],
  indexes: [
    'create index device_codes_by_expires_at on device_codes (expires_at)',
    'create index device_codes_by_client on device_codes (client_id)',
    'create index device_codes_by_user on device_codes (user_id)',
  ],
}

/** Codes and tokens are stored as SHA-256 only. */
export const oauthTables: readonly Table[] = [
  oauthClients,
  grants,
  authorizationCodes,
  accessTokens,
  clientTokens,
  refreshTokens,
  deviceCodes,
]
