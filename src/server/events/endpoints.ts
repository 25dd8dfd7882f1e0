import { randomBytes } from 'node:crypto'
import sql, { join } from 'sql-template-tag'
import { patternsOf, statementEvents, testEvent, withoutOverlap } from '../../contract/actions.ts'
import { ChatSettings, Endpoint, EndpointInput, endpoints } from '../../contract/endpoints.ts'
import { XapiSettings } from '../../contract/statements.ts'
import { recordChange } from '../changes/change.ts'
import { enqueueFor, forgetSubscribers, markLength } from '../changes/event-queue.ts'
import type { Database } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { matchesReference } from '../database/reference.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { bodyOf, resourceOf, routesOf } from '../http/schema-routes.ts'
import { invalid, ProblemError, parentNotFound } from '../problem-error.ts'
import { nextDigestAt } from './chat-message.ts'
import {
  type EndpointRow,
  endpointColumns,
  findEndpoint,
  isChat,
  isKept,
  isShownUrl,
  partsOfSecret,
  removeEndpoint,
  secretPlace,
  shownUrl,
  toChatSettings,
  toEndpoint,
  withoutQuery,
} from './endpoint-row.ts'
import { findMessage } from './messages.ts'

/** Each event is written once for each, and each has its own connections. */
export const maxEndpoints = 50
const maxStored = 1000
/** A longer key than 24 to 64 bytes has no advantage (Standard Webhooks 1.0.0, Signature scheme). */
const secretBytes = 32
const overlapMs = 24 * 60 * 60 * 1000

export const endpointRoutes = routesOf(endpoints, {
  list: ({ database, query, now }) =>
    page<EndpointRow, Endpoint>(
      database,
      {
        columns: endpointColumns,
        from: sql`webhook_endpoints e`,
        within: [{ field: 'createdAt', condition: during(sql`e.created_at`, query) }],
        where: [
          isKept(now),
          during(sql`e.updated_at`, { since: query.updated_since }),
          query.status && sql`e.status in (${join(query.status)})`,
        ],
      },
      { sort: '-createdAt', expressions: { createdAt: sql`e.created_at` }, id: sql`e.id` },
      query,
      (row) => toEndpoint(row, now),
    ),

  async get({ database, params, now }) {
    return toEndpoint(await findEndpoint(database, params.endpointId, now), now)
  },

  async create(call) {
    const { database, now } = call
    const input = bodyOf(call)
    requireAhead(input.expiresAt, now)
    const mark = await findFreeMark(database)
    const id = call.newId('whe')
    requireStatements(input)
    requirePassword(input, '')
    const settings = await settingsOf(call, input, ChatSettings.parse({}))
    const secret = input.kind === 'standard' ? newSecret() : null
    const stored = secret === null ? credentialOf(input) : secret + new URL(input.url).search
    const sealed = await call.sealing.seal(database, secretPlace(id), stored)
    await database.run(sql`
      insert into webhook_endpoints (id, kind, url, settings, digest_due_at, events, description, status, expires_at, secret,
        mark, version, created_at, updated_at)
      values (${id}, ${input.kind}, ${storedUrl(input)}, ${settings}, ${nextDigest(settings, now)}, ${JSON.stringify(input.events)}, ${input.description}, ${input.status},
              ${input.expiresAt}, ${sealed}, ${mark}, 1, ${now}, ${now})`)
    const row = await findEndpoint(database, id, now)
    await subscribe(database, row)
    const endpoint = toEndpoint(row, now)
    await recordChange(call, { action: 'endpoint.created', id, before: null, after: endpoint })
    return { ...endpoint, secret }
  },

  async update(call) {
    const { database, params, now } = call
    const row = await findEndpoint(database, params.endpointId, now)
    requireVersion(call, row.version)
    const before = toEndpoint(row, now)
    const input = resourceOf(call, EndpointInput, Endpoint, before)
    if (input.kind !== before.kind) {
      const detail = 'cannot be changed; create another endpoint'
      throw invalid([{ pointer: '#/kind', code: 'read_only', detail }])
    }
    requireStatements(input)
    if (before.xapi?.username === null)
      requirePassword(input, call.sealing.open(secretPlace(row.id), row.secret))
    const settings = await settingsOf(call, input, before.chat)
    const isNewUrl = input.url !== before.url
    const { password, ...shown } = input
    const isElsewhere = row.kind === 'xapi' && isOtherTarget(input, before) && password === undefined
    if (isElsewhere) requireNoCredential(before)
    // A password that was kept without a user name stays with the host that it was set for.
    const isNewSecret = password !== undefined || isElsewhere || (row.kind !== 'xapi' && isNewUrl)
    const secret = isNewSecret ? await newCredential(call, row, input) : row.secret
    const same =
      !isNewSecret &&
      settings === row.settings &&
      Object.entries({ ...shown, chat: before.chat, xapi: before.xapi }).every(
        ([field, value]) => JSON.stringify(value) === JSON.stringify(before[field as keyof Endpoint]),
      )
    if (same) return before
    if (input.expiresAt !== before.expiresAt) requireAhead(input.expiresAt, now)
    // Activating an endpoint ends its pause and removes why it was disabled.
    await database.run(sql`
      update webhook_endpoints set
        url = ${isNewUrl ? storedUrl(input) : row.url}, secret = ${secret}, settings = ${settings},
        digest_due_at = ${nextDigest(settings, now)}, events = ${JSON.stringify(input.events)}, description = ${input.description},
        status = ${input.status}, expires_at = ${input.expiresAt},
        disabled_reason = ${input.status === 'active' ? null : before.disabledReason},
        paused_until = ${input.url === before.url && input.status === before.status ? row.paused_until : null},
        version = version + 1, updated_at = ${now}
      where id = ${row.id}`)
    const changed = await findEndpoint(database, row.id, now)
    await subscribe(database, changed)
    const after = toEndpoint(changed, now)
    await recordChange(call, { action: 'endpoint.updated', id: row.id, before, after })
    return after
  },

  async delete(call) {
    const { database, params, now } = call
    const row = await findEndpoint(database, params.endpointId, now)
    requireVersion(call, row.version)
    await removeEndpoint(database, row.id, now)
    const before = toEndpoint(row, now)
    await recordChange(call, { action: 'endpoint.deleted', id: row.id, before, after: null })
    return undefined
  },

  async rotate(call) {
    const { database, params, now } = call
    const row = await findEndpoint(database, params.endpointId, now)
    requireVersion(call, row.version)
    requireSigned(row)
    const secret = newSecret()
    const { query } = partsOfSecret(call.sealing.open(secretPlace(row.id), row.secret))
    const sealed = await call.sealing.seal(database, secretPlace(row.id), secret + query)
    await database.run(sql`
      update webhook_endpoints set
        secret = ${sealed}, previous_secret = secret,
        previous_secret_until = ${new Date(Date.parse(now) + overlapMs).toISOString()},
        version = version + 1, updated_at = ${now}
      where id = ${row.id}`)
    const after = toEndpoint(await findEndpoint(database, row.id, now), now)
    const before = toEndpoint(row, now)
    await recordChange(call, { action: 'endpoint.rotated', id: row.id, before, after })
    return { ...after, secret }
  },

  async test(call) {
    const { database, params, now } = call
    const row = await findEndpoint(database, params.endpointId, now)
    if (row.status !== 'active') {
      throw new ProblemError(
        'endpoint_disabled',
        `Webhook endpoint ${toEndpoint(row, now).url} is disabled; set it active first.`,
      )
    }
    const data = { endpointId: row.id, description: row.description }
    const id = enqueueFor(call, row, { type: testEvent, subject: row.id, timestamp: now, data })
    return findMessage(database, id)
  },
})

/** Only the visible part where the rest may be a secret. Throws 422 for such a part. */
function storedUrl({ kind, url }: Pick<EndpointInput, 'kind' | 'url'>): string {
  if (kind === 'xapi') return url
  if (!isShownUrl(url)) return isChat(kind) ? shownUrl(url) : withoutQuery(url)
  const detail = 'is only the shown part of a URL; send the whole one'
  throw invalid([{ pointer: '#/url', code: 'invalid_url', detail }])
}

/** The URL of a chat, or the password of a record store. */
function credentialOf({ kind, url, password = '' }: EndpointInput): string {
  return isChat(kind) ? url : password
}

function newCredential({ database, sealing }: Call, row: EndpointRow, input: EndpointInput): Promise<string> {
  const place = secretPlace(row.id)
  if (row.kind !== 'standard') return sealing.seal(database, place, credentialOf(input))
  const { search } = new URL(input.url)
  if (search === '' && !isShownUrl(row.url)) return Promise.resolve(row.secret)
  return sealing.seal(database, place, partsOfSecret(sealing.open(place, row.secret)).signing + search)
}

/** A stored password would go to another host. */
function isOtherTarget({ url, xapi }: EndpointInput, before: Endpoint): boolean {
  const targetOf = (address: string | null | undefined) => (address ? new URL(address).origin : null)
  return (
    targetOf(url) !== targetOf(before.url) || targetOf(xapi?.tokenUrl) !== targetOf(before.xapi?.tokenUrl)
  )
}

/** Throws 422: a stored password is sent only to the host that it was set for. */
function requireNoCredential({ xapi }: Endpoint): void {
  if (xapi?.username === null) return
  const detail = 'is required again, because the URL has another host'
  throw invalid([{ pointer: '#/password', code: 'required', detail }])
}

/** With ids of courses; null for none. Throws 422. */
async function settingsOf(
  { database }: Pick<Call, 'database'>,
  { kind, chat, xapi, password }: EndpointInput,
  before: ChatSettings | null,
): Promise<string | null> {
  if (kind !== 'xapi') {
    const field = xapi !== null ? chosenIn('xapi', xapi, XapiSettings.parse({})) : 'password'
    if (xapi !== null || password !== undefined) {
      throw invalid([{ pointer: `#/${field}`, code: 'not_applicable', detail: 'requires the kind xapi' }])
    }
  }
  if (!isChat(kind)) {
    if (chat === null) return kind === 'xapi' ? JSON.stringify(xapi ?? XapiSettings.parse({})) : null
    const pointer = `#/${chosenIn('chat', chat, ChatSettings.parse({}))}`
    throw invalid([{ pointer, code: 'not_applicable', detail: 'requires the kind slack or teams' }])
  }
  const settings = chat ?? ChatSettings.parse({})
  requireDaily(settings, before ?? ChatSettings.parse({}))
  const courseIds: string[] = []
  for (const [index, reference] of settings.courseIds.entries()) {
    const course = await database.one<{ id: string }>(
      sql`select id from courses where ${matchesReference('courses', reference)}`,
    )
    if (!course) throw parentNotFound(`#/chat/courseIds/${index}`, 'course', reference)
    courseIds.push(course.id)
  }
  return JSON.stringify({ ...settings, courseIds: [...new Set(courseIds)] })
}

/** Throws 422. The hour of a digest that ends stays. */
function requireDaily(settings: ChatSettings, before: ChatSettings): void {
  if (settings.schedule === 'daily') return
  const field = (['digestHour', 'digestTimezone'] as const).find((each) => settings[each] !== before[each])
  if (field === undefined) return
  const detail = 'requires the schedule daily'
  throw invalid([{ pointer: `#/chat/${field}`, code: 'requires_daily', detail }])
}

/** Throws 422 for a record store that would get nothing. */
function requireStatements({ kind, events }: EndpointInput): void {
  if (kind !== 'xapi' || statementPatterns(withoutOverlap(events)).length > 0) return
  const detail = `must have one that becomes a statement: ${statementEvents.join(', ')}`
  throw invalid([{ pointer: '#/events', code: 'not_applicable', detail }])
}

/** Throws 422 for a user name without a password, given or stored. */
function requirePassword({ xapi, kind, password = '' }: EndpointInput, stored: string): void {
  if (kind !== 'xapi' || xapi?.username == null || password !== '' || stored !== '') return
  throw invalid([
    { pointer: '#/password', code: 'required', detail: 'is required for a user name or client id' },
  ])
}

/** The path of the first setting that differs from the defaults; that of all settings if none does. */
function chosenIn(name: string, settings: object, defaults: object): string {
  const values: Readonly<Record<string, unknown>> = { ...defaults }
  const chosen = Object.entries(settings).find(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(values[field]),
  )
  return chosen ? `${name}/${chosen[0]}` : name
}

/** By stored settings; null without digests. */
function nextDigest(settings: string | null, now: string): string | null {
  const chat = settings === null ? null : (JSON.parse(settings) as ChatSettings)
  return chat?.schedule === 'daily' ? nextDigestAt(chat, new Date(now)) : null
}

/** Throws 422. */
function requireSigned({ kind, url }: EndpointRow): void {
  if (kind === 'standard') return
  const secret = isChat(kind) ? 'its URL is the secret: update it' : 'set another password instead'
  throw new ProblemError(
    'read_only',
    `Webhook endpoint ${url} of kind ${kind} has no signing secret; ${secret}.`,
  )
}

/** An inactive endpoint has none. */
export async function subscribe(
  database: Database,
  endpoint: Pick<EndpointRow, 'id' | 'mark' | 'events' | 'status' | 'kind' | 'settings'>,
): Promise<void> {
  const { id, mark, events, status } = endpoint
  const chat = toChatSettings(endpoint)
  const courses = chat && chat.courseIds.length > 0 ? chat.courseIds.join() : null
  forgetSubscribers()
  await database.run(sql`delete from webhook_subscriptions where endpoint_id = ${id}`)
  if (status !== 'active' || chat?.schedule === 'daily') return
  const wanted = withoutOverlap(JSON.parse(events) as string[])
  const patterns = endpoint.kind === 'xapi' ? statementPatterns(wanted) : wanted
  if (patterns.length === 0) return
  await database.run(sql`
    insert into webhook_subscriptions (pattern, endpoint_id, mark, courses)
    values ${join(patterns.map((pattern) => sql`(${pattern}, ${id}, ${mark}, ${courses})`))}`)
}

function statementPatterns(wanted: readonly string[]): readonly string[] {
  return statementEvents.filter((type) => patternsOf(type).some((pattern) => wanted.includes(pattern)))
}

/** Throws 409. */
async function findFreeMark(database: Database): Promise<string> {
  const rows = await database.all<{ mark: string; deleted_at: string | null }>(
    sql`select mark, deleted_at from webhook_endpoints where created_at >= '' order by created_at limit ${maxStored}`,
  )
  const active = rows.filter((row) => row.deleted_at === null).length
  if (active >= maxEndpoints || rows.length >= maxStored) {
    throw new ProblemError('limit_reached', `An academy can have at most ${maxEndpoints} webhook endpoints.`)
  }
  const usedMarks = new Set(rows.map(({ mark }) => mark))
  for (let count = 0; ; count += 1) {
    const mark = count.toString(16).padStart(markLength, '0')
    if (!usedMarks.has(mark)) return mark
  }
}

/** Throws 422. */
function requireAhead(expiresAt: string | null, now: string): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid([{ pointer: '#/expiresAt', code: 'in_past', detail: 'must be in the future' }])
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}
