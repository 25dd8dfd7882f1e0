import sql from 'sql-template-tag'
import type { ChatSettings, Endpoint } from '../../contract/endpoints.ts'
import type { XapiSettings } from '../../contract/statements.ts'
import type { Database, Row } from '../database/database.ts'
import { notFound } from '../problem-error.ts'

export interface EndpointRow extends Row {
  readonly id: string
  readonly kind: string
  readonly url: string
  /** A JSON array. */
  readonly events: string
  /** JSON, by kind; null without. */
  readonly settings: string | null
  readonly description: string
  readonly status: string
  readonly disabled_reason: string | null
  readonly expires_at: string | null
  readonly paused_until: string | null
  /** Sealed for `secretPlace`, like the previous one; of a standard endpoint the signing secret and the URL's query. */
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_secret_until: string | null
  /** Distinguishes its messages from the messages of other endpoints about the same event. */
  readonly mark: string
  readonly version: number
  /** Earliest time of the next delivery, for kinds with a minimum interval. */
  readonly next_delivery_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** From `webhook_endpoints e`. */
export const endpointColumns = sql`e.id, e.kind, e.url, e.events, e.settings, e.description, e.status, e.disabled_reason, e.expires_at,
  e.paused_until, e.secret, e.previous_secret, e.previous_secret_until, e.mark, e.next_delivery_at, e.version, e.created_at, e.updated_at`

export function secretPlace(id: string): string {
  return `endpoint:${id}:secret`
}

export function partsOfSecret(secret: string): { readonly signing: string; readonly query: string } {
  const at = secret.indexOf('?')
  return at < 0 ? { signing: secret, query: '' } : { signing: secret.slice(0, at), query: secret.slice(at) }
}

/** Throws 404, also for a deleted or expired one. */
export async function findEndpoint(database: Database, id: string, now: string): Promise<EndpointRow> {
  const row = await database.one<EndpointRow>(sql`
    select ${endpointColumns} from webhook_endpoints e where e.id = ${id} and ${isKept(now)}`)
  if (!row) throw notFound('webhook endpoint', id)
  return row
}

export function isKept(now: string) {
  return sql`e.deleted_at is null and (e.expires_at is null or e.expires_at > ${now})`
}

/** Its messages are deleted later. */
export async function removeEndpoint(database: Database, id: string, now: string): Promise<void> {
  await database.run(sql`
    update webhook_endpoints set deleted_at = ${now}, secret = '', previous_secret = null where id = ${id}`)
  await database.run(sql`delete from webhook_subscriptions where endpoint_id = ${id}`)
}

/** Null unless the endpoint writes into a channel. */
export function toChatSettings({
  kind,
  settings,
}: Pick<EndpointRow, 'kind' | 'settings'>): ChatSettings | null {
  // The contract validated the values before they were stored.
  return isChat(kind) && settings !== null ? (JSON.parse(settings) as ChatSettings) : null
}

export function toXapiSettings({
  kind,
  settings,
}: Pick<EndpointRow, 'kind' | 'settings'>): XapiSettings | null {
  return kind === 'xapi' && settings !== null ? (JSON.parse(settings) as XapiSettings) : null
}

/** Writes into a channel, and its URL is a secret. */
export function isChat(kind: string): boolean {
  return kind === 'slack' || kind === 'teams'
}

export function toEndpoint(row: EndpointRow, now: string): Endpoint {
  const ahead = (time: string | null) => (time !== null && time > now ? time : null)
  return {
    id: row.id,
    // The contract validated the values before they were stored.
    kind: row.kind as Endpoint['kind'],
    // Versions before 0.3 stored queries as they were.
    url: row.kind === 'standard' ? withoutQuery(row.url) : row.url,
    events: JSON.parse(row.events) as string[],
    description: row.description,
    status: row.status as Endpoint['status'],
    chat: toChatSettings(row),
    xapi: toXapiSettings(row),
    disabledReason: row.disabled_reason as Endpoint['disabledReason'],
    expiresAt: row.expires_at,
    pausedUntil: ahead(row.paused_until),
    previousSecretUntil: ahead(row.previous_secret_until),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Minimum length of the secret part of a URL whose last four characters may be shown. */
const minLengthToShowEnd = 24

/**
 * Returns the visible part of a URL that is itself a secret: its origin and its last characters,
 * `https://hooks.slack.com/...a1B2`.
 */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const letters = (pathname + search).replace(/[^A-Za-z0-9]/g, '')
  return `${origin}/...${letters.length >= minLengthToShowEnd ? letters.slice(-4) : ''}`
}

const hiddenQuery = '?...'

/** The query may hold a token: `https://example.org/hook?...`. */
export function withoutQuery(url: string): string {
  const { search } = new URL(url)
  return search === '' ? url : `${url.slice(0, -search.length)}${hiddenQuery}`
}

/** Unchanged if `withoutQuery` removed none. */
export function withQuery(url: string, query: string): string {
  return url.endsWith(hiddenQuery) ? url.slice(0, -hiddenQuery.length) + query : url
}

export function isShownUrl(url: string): boolean {
  const { pathname, search } = new URL(url)
  return pathname.startsWith('/...') || search === hiddenQuery
}

/**
 * Returns a text without a secret: neither the whole one nor, of a URL, its path and query. A short secret is removed
 * where it is no part of a longer word, so that other text stays readable.
 */
export function withoutSecret(text: string, secret: string): string {
  const parts = [secret]
  if (URL.canParse(secret)) {
    const { pathname, search } = new URL(secret)
    parts.push(pathname + search, pathname, search.slice(1), ...new URL(secret).searchParams.values())
  }
  const clean = parts
    .filter(({ length }) => length >= minPartLength)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, part) => rest.replaceAll(part, '***'), text)
  if (secret.length >= minPartLength || secret.length < minSecretLength) return clean
  const escaped = secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const alone = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'gu')
  return clean.replace(alone, '***')
}

/** Shorter parts of a URL are words rather than secrets. */
const minPartLength = 16
/** A shorter secret is also a number or a syllable of ordinary text. */
const minSecretLength = 4
